using System.Globalization;
using System.Threading.Channels;

namespace Sluice.Server.Events;

/// <summary>A frame of the event stream; a comment, which keeps a connection alive, has no topic.</summary>
/// <param name="Topic">Its topic; empty for a comment.</param>
/// <param name="Seq">All changes up to this number are in it and in the frames before it.</param>
/// <param name="Json">What it says, on one line.</param>
internal sealed record EventFrame(string Topic, long Seq, ReadOnlyMemory<byte> Json);

/// <summary>How far a client has got: the number of its last frame, and the topics of change that it was following, one bit each.</summary>
internal readonly record struct EventPlace(long Seq, ulong Topics)
{
    /// <summary>Reads the id of a frame; null for any other text. A number alone stands for all topics.</summary>
    public static EventPlace? Read(string? text)
    {
        var (number, topics) = (text ?? "").Split('.') switch
        {
            [var first] => (first, "ffffffffffffffff"),
            [var first, var second] => (first, second),
            _ => ("", ""),
        };
        return long.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out var seq)
            && ulong.TryParse(topics, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var bits)
            ? new EventPlace(seq, bits)
            : null;
    }

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Seq}.{Topics:x}");
}

/// <summary>What one client follows, until it is disposed of. One reads it; the hub fills it.</summary>
internal sealed class EventWatch : IDisposable
{
    /// <summary>Bytes that wait for a client when it is dropped with the next frame (ADM-23).</summary>
    public const int MaxWaiting = 64 << 10;

    // Of the frame around its JSON.
    private const int Overhead = 64;

    private static readonly EventFrame Beat = new("", 0, default);

    private readonly EventHub _hub;
    private readonly Channel<EventFrame> _frames = Channel.CreateUnbounded<EventFrame>(new UnboundedChannelOptions { SingleReader = true });
    private readonly CancellationTokenSource _dropped = new();
    private long _waiting;

    /// <summary>Begins one.</summary>
    /// <param name="hub">The hub that fills it.</param>
    /// <param name="topics">The topics of change that it follows, one bit each.</param>
    public EventWatch(EventHub hub, ulong topics) => (_hub, Topics) = (hub, topics);

    /// <summary>The topics of change that it follows, one bit each; a part of the id of each frame behind <see cref="First"/>.</summary>
    public ulong Topics { get; }

    /// <summary>
    /// What it begins with: what it has missed, then the snapshots of other topics; each with the topics of its id: a client that gets no
    /// further has to begin again with the others.
    /// </summary>
    public List<(EventFrame Frame, ulong Topics)> First { get; } = [];

    /// <summary>Cancelled when more waited for the client than it may leave waiting.</summary>
    public CancellationToken Dropped => _dropped.Token;

    /// <summary>Waits for a frame behind <see cref="First"/>.</summary>
    /// <returns>Null when the client was dropped.</returns>
    public async ValueTask<EventFrame?> ReadAsync(CancellationToken cancellationToken)
    {
        if (!await _frames.Reader.WaitToReadAsync(cancellationToken) || !_frames.Reader.TryRead(out var frame))
            return null;
        Interlocked.Add(ref _waiting, -frame.Json.Length - Overhead);
        return frame;
    }

    /// <summary>Whether a frame waits.</summary>
    public bool HasMore => _frames.Reader.TryPeek(out _);

    /// <summary>Adds a frame. False where the client leaves too much waiting: it gets nothing any more.</summary>
    public bool Offer(EventFrame frame)
    {
        var size = frame.Json.Length + Overhead;
        // What waits before it counts: a long frame behind a short one is no reason to drop the client.
        if (Interlocked.Add(ref _waiting, size) - size >= MaxWaiting)
        {
            _frames.Writer.TryComplete();
            return false;
        }

        _frames.Writer.TryWrite(frame);
        return true;
    }

    /// <summary>Adds a comment, at which its reader also looks whether the client may still be there; a frame that waits does the same.</summary>
    public void OfferBeat()
    {
        if (!HasMore)
            Offer(Beat);
    }

    /// <summary>Ends the connection of a client that leaves too much waiting.</summary>
    public void Drop()
    {
        _frames.Writer.TryComplete();
        _dropped.Cancel();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _hub.Leave(this);
        _frames.Writer.TryComplete();
    }
}
