using System.Globalization;
using System.Threading.Channels;

namespace Sluice.Server.Events;

/// <summary>A frame of the event stream, or a keep-alive comment if the topic is empty. Frames up to this one contain all changes up to <c>Seq</c>.</summary>
internal sealed record EventFrame(string Topic, long Seq, ReadOnlyMemory<byte> Json);

/// <summary>A client's position: the number of its last frame, and one bit per watched change topic.</summary>
internal readonly record struct EventPlace(long Seq, ulong Topics)
{
    /// <summary>Parses a frame id; null if invalid. A plain number means all topics.</summary>
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

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Seq}.{Topics:x}");
}

/// <summary>The frames for one client. The hub writes them, and a single reader reads them.</summary>
internal sealed class EventWatch : IDisposable
{
    /// <summary>Maximum pending bytes. If they are exceeded, the next frame drops the client (ADM-23).</summary>
    public const int MaxWaiting = 64 << 10;

    // Estimated memory of a frame in addition to its JSON, in bytes.
    private const int Overhead = 64;

    private static readonly EventFrame KeepAlive = new("", 0, default);

    private readonly EventHub _hub;
    private readonly Channel<EventFrame> _frames = Channel.CreateUnbounded<EventFrame>(new UnboundedChannelOptions { SingleReader = true });
    private readonly CancellationTokenSource _dropped = new();
    private long _waiting;

    public EventWatch(EventHub hub, ulong topics) => (_hub, Topics) = (hub, topics);

    /// <summary>The watched change topics, one bit each. They are part of every frame id after <see cref="First"/>.</summary>
    public ulong Topics { get; }

    /// <summary>
    /// The first frames: missed ones, then snapshots of the other topics. Each id contains only the topics sent so far, so that a client that disconnects early
    /// repeats only the rest.
    /// </summary>
    public List<(EventFrame Frame, ulong Topics)> First { get; } = [];

    /// <summary>Canceled if the client is dropped because too many bytes are pending.</summary>
    public CancellationToken Dropped => _dropped.Token;

    /// <summary>Waits for the next frame after <see cref="First"/>; null if the client was dropped.</summary>
    public async ValueTask<EventFrame?> ReadAsync(CancellationToken cancellationToken)
    {
        if (!await _frames.Reader.WaitToReadAsync(cancellationToken) || !_frames.Reader.TryRead(out var frame))
            return null;
        Interlocked.Add(ref _waiting, -frame.Json.Length - Overhead);
        return frame;
    }

    public bool HasMore => _frames.Reader.TryPeek(out _);

    /// <summary>Adds a frame. Returns false if too many bytes are pending; the client then gets no more frames.</summary>
    public bool Offer(EventFrame frame)
    {
        var size = frame.Json.Length + Overhead;
        // Count only earlier frames, because a single long frame must not drop the client.
        if (Interlocked.Add(ref _waiting, size) - size >= MaxWaiting)
        {
            _frames.Writer.TryComplete();
            return false;
        }

        _frames.Writer.TryWrite(frame);
        return true;
    }

    /// <summary>Adds a comment unless a frame is pending, because either one makes the reader check the connection.</summary>
    public void OfferKeepAlive()
    {
        if (!HasMore)
            Offer(KeepAlive);
    }

    /// <summary>Disconnects a client that reads too slowly.</summary>
    public void Drop()
    {
        _frames.Writer.TryComplete();
        _dropped.Cancel();
    }

    public void Dispose()
    {
        _hub.Leave(this);
        _frames.Writer.TryComplete();
    }
}
