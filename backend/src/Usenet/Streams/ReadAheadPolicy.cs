namespace Sluice.Usenet.Streams;

/// <summary>
/// Decides how many segments a reader holds ahead. One at first; two once it reads on; twice as many each time it has to wait for
/// what the last doubling asked for; never more than its share of memory, or than a few seconds of a paced reader's rate.
/// </summary>
/// <remarks>Pure state of one reader, guarded by that reader.</remarks>
internal sealed class ReadAheadPolicy
{
    private static readonly TimeSpan RateWindow = TimeSpan.FromSeconds(2);

    private readonly StreamOptions _options;
    private readonly TimeProvider _time;
    private int _target = 1;
    private int _nextDoubling;
    private long _delivered;
    private long _windowStart;
    private long _windowBytes;
    private double _rate;

    public ReadAheadPolicy(StreamOptions options, TimeProvider time)
    {
        _options = options;
        _time = time;
        _windowStart = time.GetTimestamp();
    }

    /// <summary>Bytes went to the reader.</summary>
    /// <param name="count">How many.</param>
    /// <param name="headNumber">Number of the piece they came from.</param>
    /// <param name="endsPiece">Whether it has been taken to its end with them.</param>
    public void Delivered(int count, int headNumber, bool endsPiece)
    {
        _delivered += count;
        _windowBytes += count;
        if (_target > 1 || (!endsPiece && _delivered < _options.ProbeBytes))
            return;

        // Two segments are asked for from here on; only a wait behind the first of them says that two are too few.
        _target = 2;
        _nextDoubling = headNumber + (endsPiece ? 2 : 1);
    }

    /// <summary>The reader has to wait for the head.</summary>
    /// <param name="headNumber">Its number. A wait for what was claimed before the last doubling says nothing about it.</param>
    public void Waited(int headNumber)
    {
        if (_target == 1 || headNumber < _nextDoubling)
            return;
        _nextDoubling = headNumber + _target;
        _target = (int)Math.Min(2L * _target, int.MaxValue / 2);
    }

    /// <summary>Segments to hold, the one being read included; at least 1.</summary>
    /// <param name="segmentBytes">Decoded size of a segment.</param>
    /// <param name="share">Bytes that this reader may hold.</param>
    public int Target(int segmentBytes, long share)
    {
        var bytes = Math.Min(share, PacedBytes());
        var most = Math.Max(2, bytes / Math.Max(1, segmentBytes));
        if (_target > most)
            _target = (int)most;
        return _target;
    }

    /// <summary>The reader has paused for long; it starts small again.</summary>
    public void Reset(int target) => (_target, _nextDoubling) = (Math.Min(_target, target), 0);

    private long PacedBytes()
    {
        var elapsed = _time.GetElapsedTime(_windowStart);
        if (elapsed >= RateWindow)
        {
            _rate = _windowBytes / elapsed.TotalSeconds;
            (_windowStart, _windowBytes) = (_time.GetTimestamp(), 0);
        }

        return _rate > 0 ? (long)Math.Min(_rate * _options.PacedReadAhead.TotalSeconds, long.MaxValue / 2) : long.MaxValue;
    }
}
