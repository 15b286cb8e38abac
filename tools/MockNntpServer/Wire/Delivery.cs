using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Adds delivery faults to a good response. Pure.</summary>
internal static class Delivery
{
    /// <summary>Maximum packet edges per response, so that their gaps do not add up to a stall.</summary>
    private const int MaxEdges = 16;

    /// <summary>Returns the disturbed response, or the same instance if the fault does not apply.</summary>
    public static Answer Disturb(Answer answer, MockFault fault)
    {
        var place = PlaceOf(fault, answer);
        var end = answer.Bytes.Length;
        return fault.Kind switch
        {
            FaultKind.BodyStall => Stall(answer, fault, place),
            FaultKind.BodyTrickle => answer with { TrickleFrom = place, TricklePause = fault.Duration ?? TimeSpan.FromSeconds(1) },
            FaultKind.BodyEmpty => InPlaceOfData(answer, []),
            FaultKind.BodyTakedown => InPlaceOfData(answer, "This article was removed at the request of its owner.\r\n"u8),
            FaultKind.BodyPackets => answer with { PacketEdges = [.. Enumerable.Range(place, Math.Min(MaxEdges, end - place))] },
            FaultKind.BodyFin => Cut(answer, place, AnswerEnd.Close),
            FaultKind.BodyReset => Cut(answer, place, AnswerEnd.Reset),
            FaultKind.BodyNoTerminator => answer with { Bytes = answer.Bytes[..^3] },
            FaultKind.BodySplitTerminator => answer with { PacketEdges = [end - 4, end - 3, end - 2, end - 1] },
            FaultKind.BodyDotEdge => WithEdges(answer, "\r\n.."u8, 3),
            FaultKind.BodyTrailing => answer with { Bytes = (byte[])[.. answer.Bytes.Span, .. "bytes after the end\r\n"u8] },
            FaultKind.YencEscapeEdge => WithEdges(answer, "="u8, 1),
            _ => throw new InvalidOperationException($"{fault.Kind} is no fault of delivery."),
        };
    }

    private static int PlaceOf(MockFault fault, Answer answer)
    {
        var body = answer.Bytes.Length - answer.BodyStart;
        return answer.BodyStart + (fault.Offset is { } offset ? Math.Min(offset, body) : body / 2);
    }

    private static Answer Stall(Answer answer, MockFault fault, int place)
    {
        TimeSpan? pause = fault.Duration is { } duration && duration > TimeSpan.Zero ? duration : null;
        var stalled = fault.CloseAfterStall ? Cut(answer, place, AnswerEnd.Close) : answer;
        return stalled with { PauseAt = place, Pause = pause };
    }

    private static Answer InPlaceOfData(Answer answer, ReadOnlySpan<byte> text) =>
        answer with { Bytes = (byte[])[.. answer.Bytes.Span[..answer.BodyStart], .. text, .. ".\r\n"u8] };

    private static Answer Cut(Answer answer, int place, AnswerEnd end) =>
        answer with { Bytes = answer.Bytes[..place], End = end, IsArticle = false };

    /// <summary>Ends packets inside the first occurrences of the pattern in data lines.</summary>
    private static Answer WithEdges(Answer answer, ReadOnlySpan<byte> pattern, int into)
    {
        var edges = new List<int>();
        var bytes = answer.Bytes.Span;

        // Skip the keyword lines, which begin with "=y", because the edges must lie in the data.
        var from = bytes[answer.BodyStart..].IndexOf("=ypart"u8) is >= 0 and var ypart ? answer.BodyStart + ypart + 6 : answer.BodyStart;
        while (edges.Count < MaxEdges && bytes[from..].IndexOf(pattern) is >= 0 and var found)
        {
            from += found + into;
            edges.Add(from);
        }

        return edges.Count == 0 ? answer : answer with { PacketEdges = edges };
    }
}
