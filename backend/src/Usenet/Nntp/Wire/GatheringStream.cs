using System.Net.Sockets;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// The socket of a connection as a stream that lets a slow line gather bytes. A home line brings a body in pieces of a few kilobytes, and each
/// piece would wake a thread. In the middle of a body the system therefore wakes the reader only for a block (<c>SO_RCVLOWAT</c>, socket(7)).
/// </summary>
/// <remarks>
/// The threshold is never above what the body still has to bring, so its end arrives without delay. Status lines, handshakes, ends of bodies and
/// lines that fill their buffers are never held back. One reader and one writer at a time; the beat may call at any time. Where the system does
/// not support it, this is an ordinary stream. Does not own the socket.
/// </remarks>
internal sealed class GatheringStream : NetworkStream
{
    /// <summary>Longest time to gather at the present rate, well below the silence after which a reply is late.</summary>
    public static readonly TimeSpan LongestTime = TimeSpan.FromMilliseconds(25);

    // More would save little and cost memory of the system; fewer are not worth a system call.
    private const int MostBytes = 128 * 1024;
    private const int FewestBytes = 8 * 1024;

    // A line this fast fills the buffer of each receive anyway.
    private const double FastBytesPerSecond = 48 * 1024 * 1024;

    // SOL_SOCKET and SO_RCVLOWAT of Linux on all processors for which there is .NET.
    private const int SocketLevel = 1;
    private const int ReceiveLowWater = 18;
    private const int Lowest = 1;

    private readonly GatheringBeat _beat;
    private readonly NntpMeter _meter;
    private readonly int _heldAbove;
    private readonly Lock _gate = new();

    // Reader only: what the next receive waits for.
    private int _wanted = Lowest;

    // Guarded by _gate: what the socket waits for, since when, and whether the system refuses to be told.
    private int _threshold = Lowest;
    private long _since;
    private bool _isRefused = !IsSupported;

    // beat: of all connections. meter: counts the receives. heldAbove: most bytes that layers above, such as TLS, may have received without
    // passing them on.
    public GatheringStream(Socket socket, GatheringBeat beat, NntpMeter meter, int heldAbove)
        : base(socket, ownsSocket: false)
    {
        (_beat, _meter, _heldAbove) = (beat, meter, heldAbove);
        _beat.Add(this);
    }

    /// <summary>Whether the next receive waits for more than one byte. Reader only.</summary>
    public bool IsGathering => _wanted > Lowest;

    // Older kernels do not wake a reader whose threshold is lowered or whose receive window is full.
    private static bool IsSupported => OperatingSystem.IsLinux() && Environment.OSVersion.Version >= new Version(5, 10);

    /// <summary>Says what comes next. Reader only, between two reads.</summary>
    /// <param name="atLeast">Fewest bytes that still have to come for the present body; 0 outside of bodies, or if every byte is urgent.</param>
    /// <param name="bytesPerSecond">Rate of the connection; 0 if unknown, which gathers nothing.</param>
    public void Expect(long atLeast, double bytesPerSecond)
    {
        var most = Math.Min(MostBytes, atLeast - _heldAbove);
        var inTime = bytesPerSecond < FastBytesPerSecond ? Math.Min(most, (long)(bytesPerSecond * LongestTime.TotalSeconds)) : 0;

        // A threshold that still fits stays, because each change is a system call.
        if (inTime < FewestBytes)
            _wanted = Lowest;
        else if (_wanted > most || _wanted < inTime / 2 || _wanted > inTime * 2)
            _wanted = (int)inTime;
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

    /// <summary>Wakes the reader for the bytes that are there, if it has waited too long for more. Called by the beat.</summary>
    /// <param name="begunBefore">In ticks of the time provider; gathering that began later goes on.</param>
    /// <returns>Whether the stream gathers, so that it has to be watched.</returns>
    public bool StopGathering(long begunBefore)
    {
        lock (_gate)
        {
            // The system reports waiting bytes at once when the threshold falls below them.
            if (_threshold > Lowest && _since < begunBefore)
                Set(Lowest);
            return _threshold > Lowest;
        }
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _beat.Remove(this);
        base.Dispose(disposing);
    }

    private void BeginGathering()
    {
        lock (_gate)
        {
            if (_isRefused)
                return;
            if (_wanted != _threshold)
                Set(_wanted);
            if (_threshold == Lowest)
                return;
            _since = _beat.Now;
        }

        _beat.Watch();
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
