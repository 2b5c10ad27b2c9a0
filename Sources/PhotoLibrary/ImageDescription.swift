// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
package import ImageLoading
internal import Pixels

/// What an image file says about itself; each text is cut at a bound of the metadata reader.
package struct ImageDescription: Sendable {
    /// The upright width in pixels; 0 for an unreadable image.
    package var width = 0
    /// The upright height in pixels; 0 for an unreadable image.
    package var height = 0
    /// The name of the format, such as `jpeg`; empty for an unreadable image.
    package var formatName = ""
    /// The time at which the photograph was taken, by the clock of the camera.
    package var taken: PhotoDate?
    package var camera: String?
    package var lens: String?
    package var keywords: [String] = []
    package var caption: String?
    /// The names of the place, from small to large.
    package var place: String?
    /// The position in degrees.
    package var location: (latitude: Double, longitude: Double)?
    /// The rating in stars from 0 to 5.
    package var rating: Int?
    /// The reason why the image cannot be shown.
    package var error: String?
    /// Whether reading it again later may succeed.
    package var isTransient = false

    /// The description of an image that cannot be read.
    package init(error: String, isTransient: Bool) {
        self.error = error
        self.isTransient = isTransient
    }

    /// The description of an image with its metadata; XMP takes precedence over IPTC, and that over
    /// EXIF, except for dates.
    package init(_ facts: ImageFacts, _ metadata: MetadataFields) {
        width = facts.pixelSize.width
        height = facts.pixelSize.height
        formatName = facts.formatName
        let exif = metadata.exif?.fields ?? EXIFFields()
        let xmp = metadata.xmp?.fields ?? XMPFields()
        let iptc = metadata.iptc?.fields ?? IPTCFields()
        taken =
            exif.taken ?? exif.digitized ?? [xmp.dateCreated, xmp.createDate].lazy
            .compactMap { $0.flatMap { PhotoDate(exif: $0) } }.first ?? iptc.dateCreated
        camera = exif.cameraName
        lens = exif.lensName
        keywords = xmp.subjects.isEmpty ? iptc.keywords : xmp.subjects
        let captions = [
            xmp.title ?? iptc.title, xmp.headline ?? iptc.headline,
            xmp.description ?? iptc.caption ?? exif.imageDescription,
        ].compactMap { $0 }
        caption = captions.isEmpty ? nil : captions.joined(separator: "\n")
        let places = [
            iptc.sublocation, xmp.city ?? iptc.city, xmp.state ?? iptc.state,
            xmp.country ?? iptc.country,
        ].compactMap { $0 }.filter { !$0.isEmpty }
        place = places.isEmpty ? nil : places.joined(separator: ", ")
        location = exif.location.map { ($0.latitude, $0.longitude) }
        rating = (xmp.rating ?? exif.rating).flatMap { (0...5).contains($0) ? $0 : nil }
    }
}
