using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// A connection's socket as a stream that lets the kernel gather the bytes of a slow line. A home line delivers a body in pieces of a few kilobytes, and each
/// piece would wake a thread, although no byte is served before its article is verified. The kernel therefore wakes the reader only when nearly all of the body
/// has arrived (<c>SO_RCVLOWAT</c>, socket(7)).
/// </summary>
/// <remarks>
/// The threshold never exceeds the rest of the body, so the end of a body is not delayed. Status lines, handshakes, ends of bodies and lines fast enough to
/// fill their buffers are never held back. One reader and one writer at a time; <see cref="GatheringBeat"/> may call at any time. If the system lacks support,
/// this is an ordinary stream. Does not own the socket.
/// </remarks>
internal sealed class GatheringStream : NetworkStream
{
    // A higher threshold would save little and cost kernel memory; a lower one is not worth a system call.
    private const int MostBytes = 768 * 1024;
    private const int FewestBytes = 8 * 1024;

    // Fewer new bytes do not count as progress, because a server that only trickles will not finish.
    private const int FewestOfProgress = 1024;

    // Faster connections do not gather, because they fill the buffer of each receive anyway.
    private const double FastBytesPerSecond = 48 * 1024 * 1024;

    // Up to these rates, the thread that waits for socket events can serve all connections, even all 20 of a provider. Above them, pool threads share decoding
    // and decryption.
    private const double OneThreadBytesPerSecond = 16 * 1024 * 1024;
    private const double OneThreadTlsBytesPerSecond = 4 * 1024 * 1024;

    // SOL_SOCKET and SO_RCVLOWAT of Linux, the same on every architecture that .NET supports.
    private const int SocketLevel = 1;
    private const int ReceiveLowWater = 18;
    private const int Lowest = 1;

    private readonly GatheringBeat _beat;
    private readonly NntpMeter _meter;
    private readonly int _heldAbove;
    private readonly Lock _gate = new();

    // Used only by the reader: the threshold for the next receive, and whether the reader continues on the thread that completes the receive.
    private int _wanted = Lowest;
    private bool _isInline;

    // Guarded by _gate: the threshold of the socket, the bytes available at the last check, when that number last grew, whether the line has been silent
    // since, and whether the system refuses the option.
    private int _threshold = Lowest;
    private int _gathered;
    private long _grownAt;
    private bool _wasSilent;
    private bool _isRefused = !IsSupported;

    // beat: shared by all connections. meter: counts the receives. heldAbove: maximum bytes that upper layers, such as TLS, may hold without passing them on.
    public GatheringStream(Socket socket, GatheringBeat beat, NntpMeter meter, int heldAbove)
        : base(socket, ownsSocket: false) => (_beat, _meter, _heldAbove) = (beat, meter, heldAbove);

    /// <summary>
    /// Called by <see cref="GatheringBeat"/>, with the time in ticks, while the kernel gathers arriving bytes, so that the connection's clock does not mistake
    /// the gathering for silence. Null until a connection owns the socket.
    /// </summary>
    public Action<long>? Progress { get; set; }

    /// <summary>Whether the last bytes read arrived over some time, without a silence that would have ended the gathering.</summary>
    public bool HasGathered
    {
        get
        {
            lock (_gate)
                return _threshold > Lowest;
        }
    }

    /// <summary>Start of the silence, in ticks, that made <see cref="GatheringBeat"/> end the gathering of the last bytes read; null if none.</summary>
    public long? SilentSince
    {
        get
        {
            lock (_gate)
                return _wasSilent ? _grownAt : null;
        }
    }

    private bool IsGathering => _wanted > Lowest;

    // Older kernels do not wake a reader whose threshold is lowered or whose receive window is full.
    private static bool IsSupported => OperatingSystem.IsLinux() && Environment.OSVersion.Version >= new Version(5, 10);

    /// <summary>Announces the expected bytes. Reader only, between two reads.</summary>
    /// <param name="stillToCome">Minimum bytes still to come of the current body; 0 outside of bodies, or if every byte is urgent.</param>
    /// <param name="bytesPerSecond">Rate of the connection; 0 if unknown, which disables gathering.</param>
    public void Expect(long stillToCome, double bytesPerSecond)
    {
        var most = bytesPerSecond is > 0 and < FastBytesPerSecond ? Math.Min(MostBytes, stillToCome - _heldAbove) : 0;
        _wanted = most < FewestBytes ? Lowest : (int)most;
        ContinueInline(bytesPerSecond > 0 && bytesPerSecond < (_heldAbove > 0 ? OneThreadTlsBytesPerSecond : OneThreadBytesPerSecond));
    }

    /// <summary>Receives available bytes, or waits. A zero-byte read waits for data, but returns at once while a body is gathered.</summary>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (buffer.IsEmpty && IsGathering)
            return ValueTask.FromResult(0);
        if (!buffer.IsEmpty)
            _meter.Receiving();
        BeginGathering();
        return base.ReadAsync(buffer, cancellationToken);
    }

    /// <summary>Called by <see cref="GatheringBeat"/>. Wakes the reader for the available bytes if none arrived since <paramref name="latest"/>.</summary>
    /// <param name="now">In ticks of the time provider, like <paramref name="latest"/>.</param>
    /// <param name="latest">A stream without new bytes since then stops gathering.</param>
    /// <returns>Whether the stream still gathers and must be watched.</returns>
    public bool Look(long now, long latest)
    {
        bool hasGrown;
        lock (_gate)
        {
            if (_threshold == Lowest)
                return false;
            var there = Socket.Unread();
            hasGrown = there - _gathered >= FewestOfProgress;
            if (!hasGrown)
            {
                // If the threshold drops below the bytes waiting, the kernel reports them at once.
                if (_grownAt >= latest)
                    return true;
                _wasSilent = true;
                Set(Lowest);
                return false;
            }

            (_gathered, _grownAt) = (there, now);
        }

        Progress?.Invoke(now);
        return true;
    }

    // Without this, the runtime wakes two pool threads for each event, to read and to poll for more. Inline is safe, because the reader never blocks.
    private void ContinueInline(bool isInline)
    {
        if (isInline == _isInline || !IsSupported)
            return;
        _isInline = isInline;
        PreferInlineCompletions(Socket, isInline);
    }

    // Not public, but the runtime keeps this setter for outside callers.
    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "set_PreferInlineCompletions")]
    private static extern void PreferInlineCompletions(Socket socket, bool value);

    private void BeginGathering()
    {
        lock (_gate)
        {
            if (_isRefused)
                return;
            _wasSilent = false;
            if (_wanted != _threshold)
                Set(_wanted);
            if (_threshold == Lowest)
                return;
            (_gathered, _grownAt) = (0, _beat.Now);
        }

        _beat.Watch(this);
    }

    // Called under _gate.
    private void Set(int bytes)
    {
        try
        {
            Socket.SetRawSocketOption(SocketLevel, ReceiveLowWater, BitConverter.GetBytes(bytes));
            _threshold = bytes;
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // A sandbox may lack the option, or the socket has just closed, which the next read reports.
            (_isRefused, _threshold) = (true, Lowest);
        }
    }
}
