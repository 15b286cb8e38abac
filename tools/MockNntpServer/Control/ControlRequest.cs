using System.Globalization;
using System.Text;

namespace Sluice.Tools.MockNntpServer.Control;

/// <summary>The subset of HTTP/1.1 (RFC 9112) that the control port supports.</summary>
internal sealed record ControlRequest(string Method, string Path, IReadOnlyList<KeyValuePair<string, string>> Query, string Body)
{
    private const int MaxHead = 16 * 1024;
    private const int MaxBody = 1 << 20;

    /// <exception cref="FormatException">The request is invalid or too large.</exception>
    /// <exception cref="EndOfStreamException">The client closed the connection within the request.</exception>
    public static async Task<ControlRequest> ReadAsync(Stream stream, CancellationToken cancellationToken)
    {
        var buffer = new byte[MaxHead];
        int filled = 0, end;
        while ((end = buffer.AsSpan(0, filled).IndexOf("\r\n\r\n"u8)) < 0)
        {
            if (filled == buffer.Length)
                throw new FormatException("The head of the request is too long.");
            var read = await stream.ReadAsync(buffer.AsMemory(filled), cancellationToken);
            if (read == 0)
                throw new EndOfStreamException();
            filled += read;
        }

        var lines = Encoding.ASCII.GetString(buffer, 0, end).Split("\r\n");
        var words = lines[0].Split(' ');
        if (words.Length != 3)
            throw new FormatException("The request line has not three words.");

        var body = new byte[ContentLength(lines)];
        var early = Math.Min(body.Length, filled - end - 4);
        buffer.AsSpan(end + 4, early).CopyTo(body);
        await stream.ReadExactlyAsync(body.AsMemory(early), cancellationToken);

        var target = words[1].Split('?', 2);
        return new ControlRequest(words[0], target[0], ParseQuery(target.Length > 1 ? target[1] : ""), Encoding.UTF8.GetString(body));
    }

    private static int ContentLength(string[] lines)
    {
        var line = Array.Find(lines, line => line.StartsWith("Content-Length:", StringComparison.OrdinalIgnoreCase));
        if (line is null)
            return 0;
        return int.TryParse(line["Content-Length:".Length..].Trim(), NumberStyles.None, CultureInfo.InvariantCulture, out var length) && length <= MaxBody
            ? length
            : throw new FormatException("The body is too long.");
    }

    private static List<KeyValuePair<string, string>> ParseQuery(string query)
    {
        var pairs = new List<KeyValuePair<string, string>>();
        foreach (var pair in query.Split('&', StringSplitOptions.RemoveEmptyEntries))
        {
            var split = pair.Split('=', 2);
            pairs.Add(new(Uri.UnescapeDataString(split[0]), split.Length > 1 ? Uri.UnescapeDataString(split[1]) : ""));
        }

        return pairs;
    }
}
