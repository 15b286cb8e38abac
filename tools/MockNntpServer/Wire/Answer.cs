using System.Text;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>What becomes of the connection behind an answer.</summary>
internal enum AnswerEnd
{
    Open,
    Close,
    Reset,
}

/// <summary>An answer as it goes over the wire: its bytes, and what happens between them. Immutable.</summary>
internal sealed record Answer
{
    /// <summary>All bytes, or those before the connection ends.</summary>
    public required ReadOnlyMemory<byte> Bytes { get; init; }

    /// <summary>Bytes before the body: the status line, with ARTICLE the headers too.</summary>
    public int BodyStart { get; init; }

    /// <summary>True when an article's body is sent to its end.</summary>
    public bool IsArticle { get; init; }

    /// <summary>Places where a packet ends, in order.</summary>
    public IReadOnlyList<int> PacketEdges { get; init; } = [];

    /// <summary>Place of a pause, or null.</summary>
    public int? PauseAt { get; init; }

    /// <summary>How long the pause is; null: for ever.</summary>
    public TimeSpan? Pause { get; init; }

    /// <summary>Place from which single bytes are sent, or null.</summary>
    public int? TrickleFrom { get; init; }

    /// <summary>Pause before each of these bytes.</summary>
    public TimeSpan TricklePause { get; init; }

    /// <summary>Wait before the answer begins, on top of the round trip.</summary>
    public TimeSpan Delay { get; init; }

    /// <summary>The fault that makes it change places with the next one, if that waits already; else null.</summary>
    public MockFault? Swap { get; init; }

    /// <summary>What follows.</summary>
    public AnswerEnd End { get; init; }

    /// <summary>One line, or several with CRLF between them, in UTF-8.</summary>
    public static Answer Line(string text, AnswerEnd end = AnswerEnd.Open) => new() { Bytes = Encoding.UTF8.GetBytes(text + "\r\n"), End = end };

    /// <summary>The same with other bytes in front of the body.</summary>
    public Answer WithStatusLine(ReadOnlySpan<byte> line)
    {
        var former = Bytes.Span.IndexOf((byte)'\n') + 1;
        return this with { Bytes = (byte[])[.. line, .. Bytes.Span[former..]], BodyStart = Math.Max(0, BodyStart - former + line.Length) };
    }
}
