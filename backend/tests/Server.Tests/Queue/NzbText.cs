using System.IO.Compression;
using System.Text;
using SharpCompress.Compressors.BZip2;

namespace Sluice.Server.Tests.Queue;

/// <summary>NZBs, plain and compressed.</summary>
internal static class NzbText
{
    public static byte[] Of(params string[] fileNames)
    {
        var text = new StringBuilder("""<?xml version="1.0" encoding="utf-8"?><nzb xmlns="http://www.newzbin.com/DTD/2003/nzb">""");
        foreach (var name in fileNames)
        {
            text.Append(System.Globalization.CultureInfo.InvariantCulture, $"""
                <file poster="p" date="1767434400" subject="&quot;{name}&quot; yEnc (1/1)"><groups><group>a.b.test</group></groups>
                <segments><segment bytes="1000" number="1">{Guid.NewGuid():N}@test</segment></segments></file>
                """);
        }

        return Encoding.UTF8.GetBytes(text.Append("</nzb>").ToString());
    }

    /// <summary>Returns an upload that looks like a zip and turns out to be none while it arrives.</summary>
    public static byte[] DamagedZip() => "PK\u0003\u0004 and nothing that a zip has"u8.ToArray();

    public static byte[] Gzip(byte[] plain)
    {
        var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionLevel.SmallestSize))
            gzip.Write(plain);
        return packed.ToArray();
    }

    public static byte[] Bzip2(byte[] plain)
    {
        var packed = new MemoryStream();
        using (var bzip2 = BZip2Stream.Create(packed, SharpCompress.Compressors.CompressionMode.Compress, decompressConcatenated: false, leaveOpen: true))
            bzip2.Write(plain);
        return packed.ToArray();
    }

    public static byte[] Zip(params (string Name, byte[] Content)[] files)
    {
        var packed = new MemoryStream();
        using (var zip = new ZipArchive(packed, ZipArchiveMode.Create, leaveOpen: true))
        {
            foreach (var (name, content) in files)
            {
                using var entry = zip.CreateEntry(name).Open();
                entry.Write(content);
            }
        }

        return packed.ToArray();
    }
}
