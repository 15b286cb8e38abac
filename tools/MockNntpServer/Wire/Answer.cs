using System.Text;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

internal enum AnswerEnd
{
    Open,
    Close,
    Reset,
}

/// <summary>A response on the wire: its bytes, and the timing between them. Immutable.</summary>
internal sealed record Answer
{
    /// <summary>All bytes, or those sent before the connection ends.</summary>
    public required ReadOnlyMemory<byte> Bytes { get; init; }

    /// <summary>Bytes before the body: the status line, and for ARTICLE the headers.</summary>
    public int BodyStart { get; init; }

    /// <summary>Whether an article's body is sent completely.</summary>
    public bool IsArticle { get; init; }

    /// <summary>Offsets at which a packet ends, in order.</summary>
    public IReadOnlyList<int> PacketEdges { get; init; } = [];

    public int? PauseAt { get; init; }

    /// <summary>Duration of the pause; null for forever.</summary>
    public TimeSpan? Pause { get; init; }

    /// <summary>Offset from which bytes are sent one by one, or null.</summary>
    public int? TrickleFrom { get; init; }

    public TimeSpan TricklePause { get; init; }

    /// <summary>Delay of the response in addition to the round trip.</summary>
    public TimeSpan Delay { get; init; }

    /// <summary>The fault that swaps this response with the next one if its command already waits; otherwise null.</summary>
    public MockFault? Swap { get; init; }

    public AnswerEnd End { get; init; }

    /// <summary>Creates a response of one line, or several separated by CRLF, in UTF-8.</summary>
    public static Answer Line(string text, AnswerEnd end = AnswerEnd.Open) => new() { Bytes = Encoding.UTF8.GetBytes(text + "\r\n"), End = end };

    /// <summary>Returns the same response with other bytes before the body.</summary>
    public Answer WithStatusLine(ReadOnlySpan<byte> line)
    {
        var former = Bytes.Span.IndexOf((byte)'\n') + 1;
        return this with { Bytes = (byte[])[.. line, .. Bytes.Span[former..]], BodyStart = Math.Max(0, BodyStart - former + line.Length) };
    }
}
