using System.Buffers;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>Parses reply lines (RFC 3977 section 9.4.2). Stateless; never waits for input.</summary>
internal static class NntpResponseReader
{
    // initial-response-content = 3DIGIT *(SP text); the line ends in CRLF, but a bare LF is tolerated.
    /// <summary>Reads one reply line from the beginning of the buffer and removes it.</summary>
    /// <returns>False, with nothing consumed, while the line is incomplete.</returns>
    /// <exception cref="NntpException">The line is too long, or does not start with a code.</exception>
    public static bool TryRead(ref ReadOnlySequence<byte> buffer, int maxLineBytes, out NntpResponse response)
    {
        if (buffer.PositionOf((byte)'\n') is not { } lineFeed)
        {
            if (buffer.Length > maxLineBytes)
                throw LineTooLong();

            response = default;
            return false;
        }

        var line = buffer.Slice(0, lineFeed);
        if (line.Length > maxLineBytes)
            throw LineTooLong();

        buffer = buffer.Slice(buffer.GetPosition(1, lineFeed));
        response = Parse(TrimCarriageReturn(line));
        return true;
    }

    /// <summary>Whether the text of a 220-to-223 reply (<c>n message-id</c>) names this article; null if it names none.</summary>
    public static bool? Names(in NntpResponse response, ReadOnlySpan<byte> id)
    {
        if (response.Text.PositionOf((byte)'<') is not { } open)
            return null;

        var reader = new SequenceReader<byte>(response.Text.Slice(open));
        reader.Advance(1);
        return reader.IsNext(id, advancePast: true) && reader.TryRead(out var close) && close == '>';
    }

    /// <summary>Whether the text names another article, in the form <c>&lt;left@right&gt;</c> (RFC 5536 section 3.1.3).</summary>
    public static bool NamesAnother(in NntpResponse response, ReadOnlySpan<byte> id)
    {
        if (response.Text.PositionOf((byte)'<') is not { } open)
            return false;
        var text = response.Text.Slice(response.Text.GetPosition(1, open));
        if (text.PositionOf((byte)'>') is not { } close)
            return false;
        var named = text.Slice(0, close);
        return named.PositionOf((byte)'@') is not null && !(named.Length == id.Length && new SequenceReader<byte>(named).IsNext(id));
    }

    private static NntpResponse Parse(ReadOnlySequence<byte> line)
    {
        Span<byte> head = stackalloc byte[4];
        head = head[..(int)Math.Min(line.Length, 4)];
        line.Slice(0, head.Length).CopyTo(head);

        if (head.Length < 3 || !IsDigit(head[0], '1', '5') || !IsDigit(head[1], '0', '9') || !IsDigit(head[2], '0', '9') || (head.Length == 4 && head[3] != ' '))
            throw new NntpException(NntpFault.MalformedReply, "The server sent a line that is no reply.");

        var code = ((head[0] - '0') * 100) + ((head[1] - '0') * 10) + (head[2] - '0');
        return new NntpResponse(code, line.Slice(head.Length));
    }

    private static ReadOnlySequence<byte> TrimCarriageReturn(ReadOnlySequence<byte> line) =>
        !line.IsEmpty && line.Slice(line.Length - 1).FirstSpan[0] == '\r' ? line.Slice(0, line.Length - 1) : line;

    private static bool IsDigit(byte value, char from, char to) => value >= from && value <= to;

    private static NntpException LineTooLong() =>
        new(NntpFault.MalformedReply, "The server sent a line longer than any reply may be.");
}
