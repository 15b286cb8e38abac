using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Folders of raw articles as posted (headers, empty line, body; CRLF, no dot-stuffing), found by Message-ID. Read once, at startup.</summary>
internal sealed class SpoolFolder
{
    private const int MaxHeaderBytes = 64 * 1024;

    private readonly Dictionary<string, ArticleReference> _articles = new(StringComparer.Ordinal);

    /// <summary>Indexes a folder and its subfolders.</summary>
    /// <exception cref="InvalidDataException">A file ending in <c>.article</c> has no Message-ID header.</exception>
    public SpoolFolder(string root)
    {
        var file = 0;
        foreach (var folder in Directory.EnumerateDirectories(root, "*", SearchOption.AllDirectories).Append(root).Order(StringComparer.Ordinal))
        {
            var part = 0;
            foreach (var path in Directory.EnumerateFiles(folder).Order(StringComparer.Ordinal))
            {
                if (ReadMessageId(path) is { } id)
                    _articles.TryAdd(id, new ArticleReference(id, part == 0 ? ++file : file, ++part) { SpoolPath = path });
                else if (path.EndsWith(".article", StringComparison.OrdinalIgnoreCase))
                    throw new InvalidDataException($"{path} has no Message-ID header.");
            }
        }
    }

    public IReadOnlyCollection<ArticleReference> Articles => _articles.Values;

    public ArticleReference? Find(string messageId) => _articles.GetValueOrDefault(messageId);

    public static WireArticle Read(ArticleReference article)
    {
        ReadOnlySpan<byte> raw = File.ReadAllBytes(article.SpoolPath!);
        var end = raw.IndexOf("\r\n\r\n"u8);
        return new WireArticle(article.MessageId, raw[..(end + 2)].ToArray(), DotStuffing.Add(raw[(end + 4)..]));
    }

    /// <summary>Reads the message-id from a raw article's header; null if the file is not an article.</summary>
    private static string? ReadMessageId(string path)
    {
        var buffer = new byte[MaxHeaderBytes];
        using var stream = File.OpenRead(path);
        var head = buffer.AsSpan(0, stream.ReadAtLeast(buffer, buffer.Length, throwOnEndOfStream: false));
        var end = head.IndexOf("\r\n\r\n"u8);
        if (end < 0)
            return null;

        // Unfold headers, because a folded one continues on a line that begins with white space (RFC 5322 section 2.2.3).
        var headers = Encoding.UTF8.GetString(head[..end]).Replace("\r\n ", " ", StringComparison.Ordinal).Replace("\r\n\t", " ", StringComparison.Ordinal);
        foreach (var line in headers.Split("\r\n"))
        {
            if (line.StartsWith("Message-ID:", StringComparison.OrdinalIgnoreCase))
                return line["Message-ID:".Length..].Trim().TrimStart('<').TrimEnd('>');
        }

        return null;
    }
}
