using System.Globalization;
using System.Text;
using System.Xml;
using Sluice.Usenet.Probing;

namespace Sluice.Server.FamilyImport;

/// <summary>Writes a missing NZB from message-ids, for export, retries and remapping. Groups are unknown. Segment sizes are decoded sizes.</summary>
internal static class WrittenNzb
{
    private const string Namespace = "http://www.newzbin.com/DTD/2003/nzb";

    // Offset at which the data of a 7z archive starts.
    private const long SevenZipStart = 32;

    /// <summary>Writes the NZB and leaves the output open.</summary>
    public static async Task WriteAsync(Stream output, string name, WholeFiles files, DateTimeOffset at, CancellationToken cancellationToken)
    {
        var names = NamesOf(name, files);
        var partSize = files.FindPartSize(post => post.Ids.Count);
        // Checking characters is unnecessary, because names are cleaned and message-ids are valid.
        var settings = new XmlWriterSettings { Async = true, CloseOutput = false, Encoding = new UTF8Encoding(false), Indent = true, CheckCharacters = false };
        await using var xml = XmlWriter.Create(output, settings);
        await xml.WriteStartDocumentAsync();
        await xml.WriteStartElementAsync(null, "nzb", Namespace);
        foreach (var post in files.Posts)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var map = post.MapOf(post.Ids.Count, partSize);
            await xml.WriteStartElementAsync(null, "file", null);
            await Attribute("subject", string.Create(CultureInfo.InvariantCulture, $"\"{names[post]}\" yEnc (1/{post.Ids.Count})"));
            await Attribute("poster", "unknown");
            await Attribute("date", Number(Math.Max(0, at.ToUnixTimeSeconds())));
            await xml.WriteElementStringAsync(null, "groups", null, "");
            await xml.WriteStartElementAsync(null, "segments", null);
            for (var i = 0; i < post.Ids.Count; i++)
            {
                await xml.WriteStartElementAsync(null, "segment", null);
                await Attribute("bytes", Number(map?[i].Length ?? 0));
                await Attribute("number", Number(i + 1));
                await xml.WriteStringAsync(post.Ids[i].Trim().TrimStart('<').TrimEnd('>'));
                await xml.WriteEndElementAsync();
            }

            await xml.WriteEndElementAsync();
            await xml.WriteEndElementAsync();
        }

        await xml.WriteEndElementAsync();
        await xml.WriteEndDocumentAsync();

        Task Attribute(string key, string value) => xml.WriteAttributeStringAsync(null, key, null, value);
        static string Number(long value) => value.ToString(CultureInfo.InvariantCulture);
    }

    /// <summary>Names each post. A plain post gets its file's name, and a volume gets a name in the usual pattern of its format.</summary>
    private static Dictionary<OldPost, string> NamesOf(string release, WholeFiles files)
    {
        var names = new Dictionary<OldPost, string>();
        foreach (var file in files.Files)
        {
            if (file.IsPlain)
            {
                names.TryAdd(file.Stretches[0].Post, file.Names[^1]);
                continue;
            }

            var stem = files.Files.Count == 1 ? release : Path.GetFileNameWithoutExtension(file.Names[^1]);
            var format = FormatOf(file);
            for (var i = 0; i < file.Posts.Count; i++)
                names.TryAdd(file.Posts[i], string.Format(CultureInfo.InvariantCulture, format, stem, i + 1, file.Names[^1]));
        }

        return names.ToDictionary(name => name.Key, name => NameCleaner.Clean(name.Value, windowsSafe: true));
    }

    // Every RAR volume has a header, but later parts of a 7z archive or split file have none.
    private static string FormatOf(WholeFile file) =>
        file.Stretches.Count == 0 ? "{0}.part{1:000}.rar"
        : file.Stretches.Skip(1).Any(stretch => stretch.Offset > 0) ? "{0}.part{1:000}.rar"
        : file.Stretches[0].Offset == 0 && file.Cipher is null ? "{2}.{1:000}"
        : file.Stretches[0].Offset == SevenZipStart ? "{0}.7z.{1:000}"
        : "{0}.part{1:000}.rar";
}
