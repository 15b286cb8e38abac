using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// The socket of a connection as a stream that lets a slow line gather bytes. A home line brings a body in pieces of a few kilobytes, and each
/// piece would wake a thread, although no byte leaves before its article is proved. The system therefore wakes the reader only when nearly all of
/// the body is there (<c>SO_RCVLOWAT</c>, socket(7)).
/// </summary>
/// <remarks>
/// The threshold is never above what the body still has to bring, so its end arrives without delay. Status lines, handshakes, ends of bodies and
/// lines that fill their buffers are never held back. One reader and one writer at a time; the beat may call at any time. Where the system does
/// not support it, this is an ordinary stream. Does not own the socket.
/// </remarks>
internal sealed class GatheringStream : NetworkStream
{
    // More would save little and cost memory of the system; fewer are not worth a system call.
    private const int MostBytes = 768 * 1024;
    private const int FewestBytes = 8 * 1024;

    // A server that drips makes no progress.
    private const int FewestOfProgress = 1024;

    // A line this fast fills the buffer of each receive anyway.
    private const double FastBytesPerSecond = 48 * 1024 * 1024;

    // At up to these rates one thread handles all connections, even if they use all of the 20 that a provider allows: the one that waits for the
    // events of the sockets. Above them, pool threads share the work of decoding and decryption.
    private const double OneThreadBytesPerSecond = 16 * 1024 * 1024;
    private const double OneThreadTlsBytesPerSecond = 4 * 1024 * 1024;

    // SOL_SOCKET and SO_RCVLOWAT of Linux on all processors for which there is .NET.
    private const int SocketLevel = 1;
    private const int ReceiveLowWater = 18;
    private const int Lowest = 1;

    private readonly GatheringBeat _beat;
    private readonly NntpMeter _meter;
    private readonly int _heldAbove;
    private readonly Lock _gate = new();

    // Reader only: what the next receive waits for, and whether the reader continues where its socket completes.
    private int _wanted = Lowest;
    private bool _isInline;

    // Guarded by _gate: what the socket waits for, how much of it was there at the last look, when that last grew, whether it was silent from then
    // on, and whether the system refuses to be told.
    private int _threshold = Lowest;
    private int _gathered;
    private long _grownAt;
    private bool _wasSilent;
    private bool _isRefused = !IsSupported;

    // beat: of all connections. meter: counts the receives. heldAbove: most bytes that layers above, such as TLS, may have received without
    // passing them on.
    public GatheringStream(Socket socket, GatheringBeat beat, NntpMeter meter, int heldAbove)
        : base(socket, ownsSocket: false) => (_beat, _meter, _heldAbove) = (beat, meter, heldAbove);

    /// <summary>
    /// <see cref="GatheringBeat"/> calls it while bytes arrive that the system still gathers, with the time in ticks, so that the clock of the connection
    /// does not take them for silence. Null until a connection owns the socket.
    /// </summary>
    public Action<long>? Progress { get; set; }

    /// <summary>
    /// Whether the bytes read last arrived over some time without a silence. False once <see cref="GatheringBeat"/> has ended the gathering, because
    /// the line was silent then.
    /// </summary>
    public bool HasGathered
    {
        get
        {
            lock (_gate)
                return _threshold > Lowest;
        }
    }

    /// <summary>
    /// Since when no bytes had arrived, in ticks, if <see cref="GatheringBeat"/> ended the gathering of the bytes read last for that reason; else null.
    /// </summary>
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

    /// <summary>Says what comes next. Reader only, between two reads.</summary>
    /// <param name="stillToCome">Fewest bytes that still have to come for the present body; 0 outside of bodies, or if every byte is urgent.</param>
    /// <param name="bytesPerSecond">Rate of the connection; 0 if unknown, which gathers nothing.</param>
    public void Expect(long stillToCome, double bytesPerSecond)
    {
        var most = bytesPerSecond is > 0 and < FastBytesPerSecond ? Math.Min(MostBytes, stillToCome - _heldAbove) : 0;
        _wanted = most < FewestBytes ? Lowest : (int)most;
        ContinueInline(bytesPerSecond > 0 && bytesPerSecond < (_heldAbove > 0 ? OneThreadTlsBytesPerSecond : OneThreadBytesPerSecond));
    }

    /// <summary>Receives what is there, or waits. A zero-byte read waits for data, except in a body that gathers, whose buffer is needed at once.</summary>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (buffer.IsEmpty && IsGathering)
            return ValueTask.FromResult(0);
        if (!buffer.IsEmpty)
            _meter.Receiving();
        BeginGathering();
        return base.ReadAsync(buffer, cancellationToken);
    }

    /// <summary>Looks for progress, and wakes the reader for what is there if there was none since a time. Called by the beat.</summary>
    /// <param name="now">In ticks of the time provider, like <paramref name="latest"/>.</param>
    /// <param name="latest">A stream that has not grown since then stops gathering.</param>
    /// <returns>Whether the stream gathers, so that it has to be watched.</returns>
    public bool Look(long now, long latest)
    {
        bool hasGrown;
        lock (_gate)
        {
            if (_threshold == Lowest)
                return false;
            var there = Available();
            hasGrown = there - _gathered >= FewestOfProgress;
            if (!hasGrown)
            {
                // The system reports waiting bytes at once when the threshold falls below them.
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

    // Otherwise the runtime wakes two threads of the pool for each event: one that reads, and one that looks for more events. Nothing in the
    // reader blocks.
    private void ContinueInline(bool isInline)
    {
        if (isInline == _isInline || !IsSupported)
            return;
        _isInline = isInline;
        PreferInlineCompletions(Socket, isInline);
    }

    // The runtime keeps this setter for callers outside of it, although it is not public.
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

    private int Available()
    {
        try
        {
            return Socket.Available;
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // The socket has just closed, which the pending read reports.
            return 0;
        }
    }

    // Under the gate.
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
