// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("Regions in XMP") struct XMPRegionTests {
    /// A packet in the form of ExifTool 12.57.
    static func packet(_ regions: String, applied: String = "") -> [UInt8] {
        Array(
            """
            <?xpacket begin='\u{FEFF}' id='W5M0MpCehiHzreSzNTczkc9d'?>
            <x:xmpmeta xmlns:x='adobe:ns:meta/' x:xmptk='Image::ExifTool 12.57'>
            <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
             <rdf:Description rdf:about=''
              xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/'
              xmlns:stArea='http://ns.adobe.com/xmp/sType/Area#'
              xmlns:stDim='http://ns.adobe.com/xap/1.0/sType/Dimensions#'>
              <mwg-rs:Regions rdf:parseType='Resource'>
               \(applied)
               <mwg-rs:RegionList><rdf:Bag>\(regions)</rdf:Bag></mwg-rs:RegionList>
              </mwg-rs:Regions>
             </rdf:Description>
            </rdf:RDF>
            </x:xmpmeta>
            <?xpacket end='w'?>
            """.utf8)
    }

    static func region(
        _ type: String, _ x: String, _ y: String, _ width: String, _ height: String
    ) -> String {
        """
        <rdf:li rdf:parseType='Resource'>
         <mwg-rs:Area rdf:parseType='Resource'>
          <stArea:h>\(height)</stArea:h>
          <stArea:unit>normalized</stArea:unit>
          <stArea:w>\(width)</stArea:w>
          <stArea:x>\(x)</stArea:x>
          <stArea:y>\(y)</stArea:y>
         </mwg-rs:Area>
         <mwg-rs:Name>Ann</mwg-rs:Name>
         <mwg-rs:Type>\(type)</mwg-rs:Type>
        </rdf:li>
        """
    }

    private func expect(
        _ region: ImageRegion?, _ kind: ImageRegion.Kind, _ sides: [Double],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let region else {
            Issue.record("no region", sourceLocation: sourceLocation)
            return
        }
        #expect(region.kind == kind, sourceLocation: sourceLocation)
        let area = region.area
        for (one, other) in zip([area.x, area.y, area.width, area.height], sides) {
            #expect(abs(one - other) < 1e-9, sourceLocation: sourceLocation)
        }
    }

    @Test("are read in the form of ExifTool")
    func exifTool() {
        let fields = XMPFields(
            Self.packet(
                Self.region("Face", "0.1", "0.5", "0.1", "0.25")
                    + Self.region("Focus", "0.9", "0.5", "0.05", "0.1"),
                applied: """
                    <mwg-rs:AppliedToDimensions rdf:parseType='Resource'>
                    <stDim:h>120</stDim:h><stDim:unit>pixel</stDim:unit><stDim:w>300</stDim:w>
                    </mwg-rs:AppliedToDimensions>
                    """))
        #expect(fields.regions.count == 2)
        expect(fields.regions.first, .face, [0.05, 0.375, 0.1, 0.25])
        expect(fields.regions.last, .focus, [0.875, 0.45, 0.05, 0.1])
        #expect(fields.sizeOfRegions == PixelSize(width: 300, height: 120))
    }

    /// The example of the Metadata Working Group, section 5.9, with attributes and a nested list.
    @Test("are read as attributes, with a person's keywords")
    func attributes() {
        let fields = XMPFields(
            Self.packet(
                """
                <rdf:li><rdf:Description mwg-rs:Name='John' mwg-rs:Type='Face'>
                 <mwg-rs:Area stArea:x='0.5' stArea:y='0.25' stArea:w='0.06' stArea:h='0.09'
                  stArea:unit='normalized'/>
                 <mwg-rs:Extensions><rdf:Bag><rdf:li>0.9</rdf:li></rdf:Bag></mwg-rs:Extensions>
                </rdf:Description></rdf:li>
                <rdf:li><rdf:Description mwg-rs:Type='Pet'>
                 <mwg-rs:Area stArea:x='0.5' stArea:y='0.5' stArea:d='0.2'
                  stArea:unit='normalized'/>
                </rdf:Description></rdf:li>
                """,
                applied: """
                    <mwg-rs:AppliedToDimensions stDim:w='4288' stDim:h='2848' stDim:unit='pixel'/>
                    """))
        #expect(fields.regions.count == 2)
        expect(fields.regions.first, .face, [0.47, 0.205, 0.06, 0.09])
        expect(fields.regions.last, .pet, [0.4, 0.4, 0.2, 0.2])
        #expect(fields.sizeOfRegions == PixelSize(width: 4288, height: 2848))
    }

    @Test("are read in the form of Microsoft")
    func microsoft() {
        let fields = XMPFields(
            Array(
                """
                <x:xmpmeta xmlns:x='adobe:ns:meta/'>
                <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
                <rdf:Description xmlns:MP='http://ns.microsoft.com/photo/1.2/'
                 xmlns:MPRI='http://ns.microsoft.com/photo/1.2/t/RegionInfo#'
                 xmlns:MPReg='http://ns.microsoft.com/photo/1.2/t/Region#'>
                <MP:RegionInfo rdf:parseType='Resource'><MPRI:Regions><rdf:Bag>
                <rdf:li MPReg:Rectangle='0.05, 0.375, 0.1, 0.25'
                 MPReg:PersonDisplayName='Ann'/>
                <rdf:li MPReg:PersonDisplayName='Without a rectangle'/>
                </rdf:Bag></MPRI:Regions></MP:RegionInfo>
                </rdf:Description></rdf:RDF></x:xmpmeta>
                """.utf8))
        #expect(fields.regions.count == 1)
        expect(fields.regions.first, .face, [0.05, 0.375, 0.1, 0.25])
    }

    @Test("without valid numbers or of other kinds are left out, and no more than 100 are read")
    func invalid() {
        for (type, x, width) in [
            ("BarCode", "0.5", "0.1"), ("Face", "nan", "0.1"), ("Face", "0.5", "-0.1"),
            ("Face", "0.5", "1e9"), ("Face", "2", "0.1"), ("Face", "", "0.1"),
            ("Face", "0.5", "0"), ("Face", "inf", "0.1"),
        ] {
            let fields = XMPFields(Self.packet(Self.region(type, x, "0.5", width, "0.1")))
            #expect(fields.regions.isEmpty, "\(type) \(x) \(width)")
        }
        let face = Self.region("Face", "0", "0", "0.5", "0.5")
        let many = XMPFields(Self.packet(String(repeating: face, count: 150)))
        #expect(many.regions.count == 100)
        // Clipped at the corner.
        expect(many.regions.first, .face, [0, 0, 0.25, 0.25])
    }

    @Test("stay inside of the image in damaged packets")
    func damaged() {
        let packet = Self.packet(
            Self.region("Face", "0.1", "0.5", "0.1", "0.25")
                + Self.region("Focus", "0.9", "0.5", "0.05", "0.1"))
        var random = SeededRandom(seed: 59)
        for _ in 0..<2_000 {
            var damaged = packet
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[.random(in: damaged.indices, using: &random)] = .random(
                    in: 32...126, using: &random)
            }
            for region in XMPFields(damaged).regions {
                let area = region.area
                #expect(area.x >= 0 && area.y >= 0 && area.width > 0 && area.height > 0)
                #expect(area.x + area.width < 1.001 && area.y + area.height < 1.001)
            }
        }
    }

    @Test("follow the orientation", arguments: Orientation.allCases)
    func orientation(_ orientation: Orientation) throws {
        // The pixel at the top left of a stored image of 4x2.
        let (stored, upright) = (
            PixelSize(width: 4, height: 2), orientation.oriented(PixelSize(width: 4, height: 2))
        )
        let xmp = Self.packet(Self.region("Face", "0.125", "0.25", "0.25", "0.5"))
        var fields = MetadataFields()
        fields.xmp = .init(XMPFields(xmp), byteCount: xmp.count)
        var exif = EXIFFields()
        exif.orientation = orientation
        fields.exif = .init(exif, byteCount: 1)
        let part = try #require(fields.partsToKeep(of: upright).first)
        let place = orientation.position(ofX: 0, y: 0, in: stored)
        #expect(abs(part.x * Double(upright.width) - Double(place.x)) < 1e-9)
        #expect(abs(part.y * Double(upright.height) - Double(place.y)) < 1e-9)
        #expect(abs(part.width * Double(upright.width) - 1) < 1e-9)
        #expect(abs(part.height * Double(upright.height) - 1) < 1e-9)
        // Regions for the upright image, by a program that states its size.
        var applied = XMPFields(xmp)
        applied.sizeOfRegions = upright
        fields.xmp = .init(applied, byteCount: xmp.count)
        if orientation.swapsSides {
            #expect(fields.partsToKeep(of: upright) == applied.regions.map(\.area))
        }
    }

    @Test("with faces take precedence over the focus of the camera")
    func precedence() {
        let face = Self.region("Face", "0.1", "0.5", "0.1", "0.25")
        let focus = Self.region("Focus", "0.9", "0.5", "0.05", "0.1")
        func count(_ regions: String) -> Int {
            var fields = MetadataFields()
            fields.xmp = .init(XMPFields(Self.packet(regions)), byteCount: 1)
            return fields.partsToKeep(of: PixelSize(width: 3, height: 2)).count
        }
        #expect(count(face + focus + face) == 2)
        #expect(count(focus) == 1)
        #expect(MetadataFields().partsToKeep(of: PixelSize(width: 3, height: 2)).isEmpty)
    }
}
