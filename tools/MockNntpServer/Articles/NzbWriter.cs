using System.Globalization;
using System.Text;
using System.Xml;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Writes a release as an NZB 1.1 document.</summary>
internal static class NzbWriter
{
    private const string Namespace = "http://www.newzbin.com/DTD/2003/nzb";

    public static void Write(Stream output, MockRelease release)
    {
        var settings = new XmlWriterSettings { Encoding = new UTF8Encoding(false), Indent = true, NewLineChars = "\n" };
        using var xml = XmlWriter.Create(output, settings);
        xml.WriteStartDocument();
        xml.WriteDocType("nzb", "-//newzBin//DTD NZB 1.1//EN", "http://www.newzbin.com/DTD/nzb/nzb-1.1.dtd", null);
        xml.WriteStartElement("nzb", Namespace);
        xml.WriteStartElement("head");
        xml.WriteStartElement("meta");
        xml.WriteAttributeString("type", "title");
        xml.WriteString(release.Title);
        xml.WriteEndElement();
        if (release.Password is { } password)
        {
            xml.WriteStartElement("meta");
            xml.WriteAttributeString("type", "password");
            xml.WriteString(password);
            xml.WriteEndElement();
        }

        xml.WriteEndElement();
        for (var file = 0; file < release.Files.Count; file++)
        {
            var parts = release.PartsOf(file);
            if (!release.ListsSegmentsAsFiles)
                WriteFile(xml, parts, file, release.Files[file].Subject, isPart: false);
            for (var i = 0; i < parts.Count && release.ListsSegmentsAsFiles; i++)
                WriteFile(xml, [parts[i]], file, release.Files[file].Subject, release.NumbersSegmentFiles);
        }

        xml.WriteEndElement();
    }

    private static void WriteFile(XmlWriter xml, IReadOnlyList<PostedPart> parts, int file, string? subject, bool isPart)
    {
        subject ??= ArticleEncoder.Subject(parts[0].Id);
        if (isPart)
            subject = subject.Replace("yEnc (1/", string.Create(CultureInfo.InvariantCulture, $"yEnc ({parts[0].Id.Part}/"), StringComparison.Ordinal);
        xml.WriteStartElement("file");
        xml.WriteAttributeString("poster", ArticleEncoder.Poster);
        xml.WriteAttributeString("date", ArticleEncoder.FirstPost.AddSeconds(file).ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture));
        xml.WriteAttributeString("subject", subject);
        xml.WriteStartElement("groups");
        xml.WriteElementString("group", ArticleEncoder.Group);
        xml.WriteEndElement();
        xml.WriteStartElement("segments");
        foreach (var (id, length) in parts)
        {
            xml.WriteStartElement("segment");
            xml.WriteAttributeString("bytes", length.ToString(CultureInfo.InvariantCulture));
            xml.WriteAttributeString("number", (parts.Count == 1 && !isPart ? 1 : id.Part).ToString(CultureInfo.InvariantCulture));
            xml.WriteString(id.ToString());
            xml.WriteEndElement();
        }

        xml.WriteEndElement();
        xml.WriteEndElement();
    }
}
