// SPDX-License-Identifier: Apache-2.0

// All texts of the page in English and German. `{name}` is replaced by a value; a function chooses the
// plural of `count`.

const LANGUAGES = ["en", "de"];

/** The language of the page: the first of the user's languages that it has. */
export const language = navigator.languages
  .map((name) => name.slice(0, 2).toLowerCase())
  .find((name) => LANGUAGES.includes(name)) ?? "en";

const plural = (one, many) => ({ count }) => (count === 1 ? one : many);

const STRINGS = {
  // The bar and the folders.
  path: ["Path", "Pfad"],
  views: ["Views", "Ansichten"],
  allPhotos: ["All photos", "Alle Fotos"],
  folders: ["Folders", "Ordner"],
  order: ["Order of images", "Reihenfolge der Bilder"],
  orderName: ["Name", "Name"],
  orderNewest: ["Newest first", "Neueste zuerst"],
  orderOldest: ["Oldest first", "Älteste zuerst"],
  density: ["Size of images", "Größe der Bilder"],
  small: ["Small images", "Kleine Bilder"],
  medium: ["Medium images", "Mittlere Bilder"],
  large: ["Large images", "Große Bilder"],
  root: ["Images", "Bilder"],
  images: [plural("{number} image", "{number} images"), plural("{number} Bild", "{number} Bilder")],
  folderCount: [
    plural("{number} folder", "{number} folders"), plural("{number} Ordner", "{number} Ordner")],
  noImages: ["No images", "Keine Bilder"],
  loading: ["Loading…", "Wird geladen …"],
  showAllFolders: ["Show all {number} folders", "Alle {number} Ordner zeigen"],
  emptyFolder: ["This folder is empty", "Dieser Ordner ist leer"],
  emptyFolderHint: [
    "Images added to this folder appear automatically.",
    "Bilder, die in diesem Ordner hinzukommen, erscheinen von selbst."],
  folderMissing: ["Folder not found", "Ordner nicht gefunden"],
  folderMissingHint: [
    "It may have been moved or renamed. ", "Vielleicht wurde er verschoben oder umbenannt. "],
  folderFails: ["This folder cannot be shown", "Dieser Ordner kann nicht gezeigt werden"],
  backToAll: ["Back to all images", "Zurück zu allen Bildern"],
  unreachable: [
    "The server cannot be reached. Trying again…", "Der Server ist nicht erreichbar. Neuer Versuch …"],
  busy: ["The server is busy. Trying again…", "Der Server ist ausgelastet. Neuer Versuch …"],
  scrubber: ["Position in the images", "Position in den Bildern"],
  position: ["{label}, image {index} of {total}", "{label}, Bild {index} von {total}"],
  undecodable: ["the image cannot be shown", "das Bild kann nicht gezeigt werden"],
  connectionBroke: ["the connection broke", "die Verbindung ist abgebrochen"],

  // The timeline and the search.
  timelineFails: ["The timeline cannot be shown", "Die Zeitleiste kann nicht gezeigt werden"],
  progress: ["{read} of {found} read", "{read} von {found} gelesen"],
  progressLeft: [
    "{read} of {found} read, {time} left", "{read} von {found} gelesen, noch {time}"],
  seconds: ["{number} s", "{number} s"],
  minutes: ["{number} min", "{number} min"],
  emptyLibrary: ["There are no images yet", "Noch keine Bilder"],
  search: ["Search", "Suchen"],
  searchHint: ["Search: name, date, camera…", "Suchen: Name, Datum, Kamera …"],
  clearSearch: ["Clear the search", "Suche leeren"],
  completions: ["Suggestions", "Vorschläge"],
  completionCount: [
    plural("{number} suggestion", "{number} suggestions"),
    plural("{number} Vorschlag", "{number} Vorschläge")],
  nothingFound: ["Nothing found for “{query}”", "Nichts gefunden für „{query}“"],
  nothingFoundHint: [
    "All words must match: names, folders, keywords, captions, cameras, lenses, places or dates. ",
    "Alle Wörter müssen passen: Namen, Ordner, Stichwörter, Bildtexte, Kameras, Objektive, Orte oder Daten. "],
  found: ["{images} for “{query}”", "{images} für „{query}“"],
  foundCut: [
    "The newest {images} for “{query}”", "Die neuesten {images} für „{query}“"],
  kindFolder: ["Folder", "Ordner"],
  kindCamera: ["Camera", "Kamera"],
  kindLens: ["Lens", "Objektiv"],
  kindKeyword: ["Keyword", "Stichwort"],
  kindFormat: ["Format", "Format"],
  kindYear: ["Year", "Jahr"],
  kindPlace: ["Place", "Ort"],

  // The images that look alike.
  duplicates: ["Duplicates", "Doppelte"],
  groups: [plural("{number} group", "{number} groups"), plural("{number} Gruppe", "{number} Gruppen")],
  equalFiles: [plural("{number} equal file", "{number} equal files"),
    plural("{number} gleiche Datei", "{number} gleiche Dateien")],
  similarImages: [plural("{number} similar image", "{number} similar images"),
    plural("{number} ähnliches Bild", "{number} ähnliche Bilder")],
  sameFile: ["Same file as {name}", "Gleiche Datei wie {name}"],
  moreGroups: ["Show more", "Mehr zeigen"],
  noDuplicates: ["No duplicates", "Nichts doppelt"],
  noDuplicatesHint: ["No images look alike.", "Keine Bilder sehen sich ähnlich."],
  duplicatesFail: ["The duplicates cannot be shown", "Doppelte Bilder können nicht gezeigt werden"],

  // The selection.
  selection: ["Selection", "Auswahl"],
  select: ["Select {name}", "{name} auswählen"],
  selectDay: ["Select all of {day}", "Alle vom {day} auswählen"],
  selected: ["{number} selected", "{number} ausgewählt"],
  selectionFull: [
    "At most {number} images can be selected", "Höchstens {number} Bilder können ausgewählt werden"],
  download: ["Download", "Herunterladen"],
  downloadSize: ["Size of the downloaded images", "Größe der heruntergeladenen Bilder"],
  originals: ["Originals", "Originale"],
  sidecars: ["Marks (XMP)", "Markierungen (XMP)"],
  upTo: ["Up to {number} px", "Bis {number} px"],
  downloadFails: ["The download failed: {reason}", "Das Herunterladen schlug fehl: {reason}"],
  favourite: ["Favourite", "Favorit"],
  favouriteKey: ["Favourite (F)", "Favorit (F)"],
  rating: ["Rating", "Bewertung"],
  stars: [plural("{number} star", "{number} stars"), plural("{number} Stern", "{number} Sterne")],
  starsKey: ["Rate ({number})", "Bewerten ({number})"],
  unrated: ["No rating", "Keine Bewertung"],
  markFails: ["The mark was not saved: {reason}", "Die Markierung wurde nicht gespeichert: {reason}"],
  copyAddress: ["Copy address", "Adresse kopieren"],
  share: ["Share", "Teilen"],
  shareFolder: ["Share this folder", "Diesen Ordner teilen"],
  shareTitle: ["Share {name}", "{name} teilen"],
  shareHint: [
    "Everyone with the link sees these images, and nothing else.",
    "Wer den Link hat, sieht diese Bilder und sonst nichts."],
  linkDuration: ["Valid for", "Gültig für"],
  dayCount: [plural("{number} day", "{number} days"), plural("{number} Tag", "{number} Tage")],
  makeLink: ["Create link", "Link erstellen"],
  link: ["Link", "Link"],
  copyLink: ["Copy", "Kopieren"],
  linkFails: ["The link was not created: {reason}", "Der Link wurde nicht erstellt: {reason}"],
  activeLinks: ["Active links", "Aktive Links"],
  noLinks: ["There are no active links", "Keine aktiven Links"],
  linkEnd: ["until {date}", "bis {date}"],
  copyLinkTo: ["Copy the link to {name}", "Link zu {name} kopieren"],
  withdraw: ["Withdraw", "Zurückziehen"],
  withdrawNow: ["Really withdraw?", "Wirklich zurückziehen?"],
  withdrawLink: ["Withdraw the link to {name}", "Link zu {name} zurückziehen"],
  withdrawLinkNow: [
    "Really withdraw the link to {name}?", "Link zu {name} wirklich zurückziehen?"],
  withdrawn: ["The link to {name} was withdrawn", "Der Link zu {name} wurde zurückgezogen"],
  withdrawFails: [
    "The link was not withdrawn: {reason}", "Der Link wurde nicht zurückgezogen: {reason}"],
  linksFail: ["The links cannot be shown: {reason}", "Die Links können nicht gezeigt werden: {reason}"],
  sharedImages: ["Shared images", "Geteilte Bilder"],
  clearSelection: ["Clear the selection (Esc)", "Auswahl aufheben (Esc)"],

  // The viewer.
  zoom: ["Zoom (Z)", "Vergrößern (Z)"],
  zoomLong: ["Zoom in or out", "Vergrößern oder verkleinern"],
  information: ["Information", "Informationen"],
  informationKey: ["Information (I)", "Informationen (I)"],
  copyURL: ["Copy the URL", "Adresse kopieren"],
  copied: ["URL copied", "Adresse kopiert"],
  copyFails: ["Copying is not permitted", "Kopieren ist nicht erlaubt"],
  downloadOriginal: ["Download the original", "Original herunterladen"],
  close: ["Close", "Schließen"],
  closeKey: ["Close (Esc)", "Schließen (Esc)"],
  previous: ["Previous image", "Voriges Bild"],
  previousKey: ["Previous (←)", "Voriges (←)"],
  next: ["Next image", "Nächstes Bild"],
  nextKey: ["Next (→)", "Nächstes (→)"],
  imageFails: ["This image cannot be shown: {reason}.", "Dieses Bild kann nicht gezeigt werden: {reason}."],
  sizeUnknown: ["size unknown", "Größe unbekannt"],
  announcement: ["{name}, {index} of {total}", "{name}, {index} von {total}"],
  showFolder: ["Show the folder", "Ordner zeigen"],
  taken: ["Taken", "Aufgenommen"],
  size: ["Size", "Größe"],
  file: ["File", "Datei"],
  changed: ["Changed", "Geändert"],
  camera: ["Camera", "Kamera"],
  lens: ["Lens", "Objektiv"],
  exposure: ["Exposure", "Belichtung"],
  colours: ["Colours", "Farben"],
  bytes: ["bytes", "Byte"],

  // The slideshow.
  slideshow: ["Slideshow", "Diashow"],
  slideshowKey: ["Slideshow (S)", "Diashow (S)"],
  interval: ["Seconds for each image", "Sekunden je Bild"],
  shuffle: ["Shuffle", "Zufällige Reihenfolge"],
  pause: ["Pause", "Anhalten"],
  play: ["Continue", "Fortsetzen"],

  developerPanel: ["Developer panel", "Entwicklerfenster"],
};

/** Returns a text in the language of the page. */
export function t(key, values = {}) {
  let text = STRINGS[key][LANGUAGES.indexOf(language)];
  if (typeof text === "function") text = text(values);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Sets the texts of a part of the page: `data-t` its content, `data-t-label` its name, `data-t-title`. */
export function localize(root) {
  for (const part of root.querySelectorAll("[data-t]")) part.textContent = t(part.dataset.t);
  for (const part of root.querySelectorAll("[data-t-label]")) part.ariaLabel = t(part.dataset.tLabel);
  for (const part of root.querySelectorAll("[data-t-title]")) part.title = t(part.dataset.tTitle);
  for (const part of root.querySelectorAll("[data-t-hint]")) part.placeholder = t(part.dataset.tHint);
}
