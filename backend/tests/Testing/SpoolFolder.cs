namespace Sluice.Testing;

/// <summary>Articles of a real post as files, as a poster stores them: headers, an empty line, the body without doubled dots.</summary>
public static class SpoolFolder
{
    /// <summary>Posts every article of a folder.</summary>
    public static async Task PostAsync(ScriptedArticleSource source, string folder, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(source);
        foreach (var path in Directory.EnumerateFiles(folder, "*.article"))
        {
            var (id, wire) = ToWire(await File.ReadAllBytesAsync(path, cancellationToken));
            source.Post(id, wire);
        }
    }

    /// <summary>Returns the message-id of a stored article, and its body as sent over the wire.</summary>
    public static (string Id, byte[] Wire) ToWire(byte[] article)
    {
        ArgumentNullException.ThrowIfNull(article);
        var end = article.AsSpan().IndexOf("\r\n\r\n"u8);
        var headers = System.Text.Encoding.Latin1.GetString(article.AsSpan(0, end));
        var id = headers.Split("\r\n").Single(line => line.StartsWith("Message-ID:", StringComparison.OrdinalIgnoreCase));
        var body = article.AsSpan(end + 4);

        var wire = new MemoryStream(body.Length + 1024);
        var isLineStart = true;
        foreach (var octet in body)
        {
            if (isLineStart && octet == (byte)'.')
                wire.WriteByte((byte)'.');
            wire.WriteByte(octet);
            isLineStart = octet == (byte)'\n';
        }

        wire.Write(isLineStart ? ".\r\n"u8 : "\r\n.\r\n"u8);
        return (id["Message-ID:".Length..].Trim().Trim('<', '>'), wire.ToArray());
    }
}
