namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// Decides how many segments a reader holds ahead. One at first; two once it reads on; then twice as many each time it has to wait
/// for a segment that the last step asked for, or many times as much as it has read where only the round trip limits, as long as such steps still
/// raise the rate: so the window follows rate × round trip and stays small where more would not help. Never more than the share of
/// memory, or than a few seconds of a paced reader's rate.
/// </summary>
/// <remarks>Pure state of one reader, guarded by that reader.</remarks>
internal sealed class ReadAheadPolicy
{
    private const int MostSegments = 1 << 20;
    private const int ShortestHold = 4;
    private const int LongestHold = 64;

    // An enlargement that brings less than this did not help.
    private const double LeastGain = 1.1;

    // Articles of one moment arrive at different ones: a window of just rate × the shortest round trip would run dry at each late
    // one, and a reader that is woken for every single article costs more than memory does.
    private const double Slack = 4;

    // So much is worth memory up to here, in bytes; a larger window is for a larger rate × round trip alone, with what a jitter of the line needs.
    private const double Ample = 64 << 20;
    private const double LeastSlack = 2;

    // Bytes per second; more than any line carries.
    private const double FastestLine = 1.5e9;

    // What a ramp is for, which knows no rate yet: a line of 10 Gbit/s. Its window is full before the first hold where the reader is slower.
    private const double UsualLine = 1.3e9;

    // Where this share of the window is rate × round trip, the line is far from full: it is the round trip that limits.
    private const double FullUse = 0.6;

    // No reader holds more than this many times as much as it has read, so that a player that looks at a place and leaves costs little,
    // even over a border. Where the round trip limits, each step costs one, and that much is held at once: all of it with the second step.
    private const int AheadOfRead = 16;

    private static readonly TimeSpan Quick = TimeSpan.FromMilliseconds(50);

    private readonly LineMemory _memory;
    private readonly PacedRate _paced;
    private readonly StreamOptions _options;
    private readonly TimeProvider _time;
    private readonly long _openedAt;
    private int _target = 1;
    private int _segmentBytes = 1;

    // Seconds from asking for a segment to having it where nothing queues, the shortest seen. It is never forgotten: what a full
    // window shows is its own queue, and a line that has become that much longer shows in what an enlargement gains.
    private double _roundTrip = double.PositiveInfinity;

    // A wait says something about the window from this piece on, the first that was asked for since it has its present size.
    private int _telling;

    // The window and its rate before the last enlargement, while that is on trial; no rate before the first.
    private int _lastTarget;
    private double _lastRate;
    private bool _isTried;

    // Telling waits that are still let pass, how many are after the next enlargement in vain, and the rate at which that began.
    private int _held;
    private int _hold = ShortestHold;
    private double _heldRate;
    private bool _isPiledUp;

    // Whether the ramp is over: a round trip that limits after it has grown, and is followed in smaller steps.
    private bool _hasHeld;
    private bool _isProbing;

    private long _firstByteAt;
    private long _delivered;
    private long _markBytes;
    private long _markTime;
    private long _waitingSince;

    // Of the last step; 0 before.
    private double _rate;

    /// <param name="options">How much may be held.</param>
    /// <param name="memory">How late articles have been of late.</param>
    /// <param name="time">Clock.</param>
    public ReadAheadPolicy(StreamOptions options, LineMemory memory, TimeProvider time)
    {
        _options = options;
        _memory = memory;
        _time = time;
        _paced = new PacedRate(options, time);
        _openedAt = time.GetTimestamp();
    }

    /// <summary>Bytes went to the reader.</summary>
    /// <param name="count">How many.</param>
    /// <param name="headNumber">Number of the piece they came from.</param>
    /// <param name="endsPiece">Whether it has been taken to its end with them.</param>
    public void Delivered(int count, int headNumber, bool endsPiece)
    {
        if (_delivered == 0)
            _firstByteAt = _time.GetTimestamp();
        _delivered += count;
        _paced.Delivered(count);
        if (_target > 1 || _delivered <= _options.ProbeBytes)
            return;

        // Two segments are asked for from here on; only a wait behind the first of them says that two are too few.
        _target = 2;
        _telling = headNumber + (endsPiece ? 2 : 1);
    }

    /// <summary>The reader has to wait for the head.</summary>
    /// <param name="headNumber">Its number. A wait for a slot that was claimed before the last step says nothing about that step.</param>
    public void Waited(int headNumber)
    {
        var now = _time.GetTimestamp();
        _waitingSince = now;
        if (_target == 1 || headNumber < _telling)
            return;
        var seconds = _time.GetElapsedTime(_markTime, now).TotalSeconds;
        // The first wait measures the landing segment alone, which says nothing about two at a time.
        var rate = _markBytes > 0 && seconds > 0 ? (_delivered - _markBytes) / seconds : 0;
        (_markBytes, _markTime) = (_delivered, now);
        Step(rate);
        _telling = headNumber + _target;
    }

    /// <summary>The segment that the reader waited for has come.</summary>
    /// <param name="askedFor">When it was asked for.</param>
    /// <param name="wasLate">Whether it was a straggler, asked for a second time. Its time is left out of the rate, and is worth holding ahead from now on.</param>
    public void Arrived(long askedFor, bool wasLate)
    {
        if (!wasLate)
        {
            _roundTrip = Math.Min(_roundTrip, _time.GetElapsedTime(askedFor).TotalSeconds);
            return;
        }

        var now = _time.GetTimestamp();
        _memory.LearnLate(_time.GetElapsedTime(_waitingSince, now).TotalSeconds);
        _markTime += now - _waitingSince;
        _isPiledUp = true;
        _target = (int)Math.Clamp(Enough(Math.Max(_rate, _paced.Rate)), _target, MostSegments);
    }

    /// <summary>Segments to hold, the one being read included; at least 1.</summary>
    /// <param name="segmentBytes">Decoded size of a segment.</param>
    /// <param name="share">Bytes that this reader may hold.</param>
    public int Target(int segmentBytes, long share)
    {
        _segmentBytes = Math.Max(1, segmentBytes);
        var most = Math.Max(2, Math.Min(share, _paced.ReadAhead) / _segmentBytes);
        if (_target > most)
            _target = (int)most;
        return _target;
    }

    /// <summary>The reader has paused for long; it starts small again.</summary>
    public void Reset(int target)
    {
        _target = Math.Min(_target, target);
        (_telling, _held, _hold) = (0, 0, ShortestHold);
        (_isTried, _isProbing, _hasHeld) = (false, false, false);
        _markBytes = 0;
    }

    private void Step(double rate)
    {
        var needed = Needed(rate);
        var isKnown = rate > 0 && double.IsFinite(_roundTrip);
        var enough = Enough(rate);
        _rate = rate;

        // A rate that was measured while connections were opened, or beside other readers, is out of date once there is a higher one. What
        // has piled up behind a straggler is none.
        if (_held > 0 && rate >= LeastGain * _heldRate && !_isPiledUp)
            _held = 0;
        _isPiledUp = false;
        if (_held > 0)
        {
            // The line may carry less by now, and segments beyond that only queue.
            if (isKnown && enough < _target)
                _target = Math.Max(2, (int)Math.Ceiling(enough));
            _isProbing = --_held == 0;
            return;
        }

        var gained = !_isTried || _lastRate == 0 || rate >= LeastGain * _lastRate;
        if (!gained)
            Hold(isKnown ? Math.Min(enough, _lastTarget + Insured(rate)) : _lastTarget, rate);
        else if (isKnown && !_isProbing && enough < _target)
            Hold(enough, rate);
        else
            Enlarge(rate, rate == 0 ? BeganLate : isKnown && !_isProbing && needed >= FullUse * _target);
    }

    /// <summary>
    /// The first step knows no rate. Where the landing segment took longer to begin than to be read, it is the round trip that
    /// limits; where it took longer to be read, the line is thin or the reader is.
    /// </summary>
    private bool BeganLate =>
        _time.GetElapsedTime(_firstByteAt) is var since && (since <= Quick || since <= _time.GetElapsedTime(_openedAt, _firstByteAt));

    /// <summary>Segments beyond which a window of this rate gains nothing.</summary>
    private double Enough(double rate)
    {
        var needed = Needed(rate);
        return Math.Max(LeastSlack * needed, Math.Min(Slack * needed, Ample / _segmentBytes)) + Insured(rate);
    }

    /// <summary>
    /// Segments beyond which no enlargement goes; no bound as long as the round trip is unknown. The rate of a ramp, and that of a window
    /// which is too small, say little of what the line carries.
    /// </summary>
    private double Worth(double rate) =>
        double.IsFinite(_roundTrip)
            ? Math.Max(Ample / _segmentBytes, Needed(_hasHeld ? Math.Min(Slack * rate, FastestLine) : UsualLine)) + Insured(rate)
            : MostSegments;

    /// <summary>Segments that come within a round trip, and the one that is read.</summary>
    private double Needed(double rate) => 1 + (double.IsFinite(_roundTrip) ? rate * _roundTrip / _segmentBytes : 0);

    /// <summary>Segments that are read while an article is as late as some were a while ago; 0 when none was.</summary>
    private double Insured(double rate) => rate * _memory.LateSeconds / _segmentBytes;

    private void Hold(double target, double rate)
    {
        (_heldRate, _hasHeld) = (rate, true);
        _target = Math.Clamp((int)Math.Ceiling(target), 2, _target);
        _isTried = false;
        _held = _hold;
        _hold = Math.Min(2 * _hold, LongestHold);
    }

    private void Enlarge(double rate, bool tripLimits)
    {
        if (_isTried)
            _hold = ShortestHold;
        (_lastTarget, _lastRate, _isTried) = (_target, rate, true);
        var affordable = Math.Min(AheadOfRead * (double)_delivered / _segmentBytes, Worth(rate));
        var wanted = Math.Min(affordable, tripLimits ? (_hasHeld ? 4.0 * _target : affordable) : 2.0 * _target);
        _target = (int)Math.Min(Math.Max(_target, wanted), MostSegments);
    }
}

/// <summary>The rate at which a reader takes bytes, and how much is worth holding ahead of it.</summary>
/// <remarks>Pure state of one reader, guarded by that reader.</remarks>
internal sealed class PacedRate(StreamOptions options, TimeProvider time)
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(2);

    private long _start = time.GetTimestamp();
    private long _last = time.GetTimestamp();
    private long _bytes;
    private double _rate;

    /// <summary>Bytes per second of late; 0 while unknown.</summary>
    public double Rate => _rate;

    /// <summary>Bytes worth holding: a few seconds of the rate, or no bound while it is unknown.</summary>
    public long ReadAhead
    {
        get
        {
            Measure(time.GetTimestamp());
            return _rate > 0 ? (long)Math.Min(_rate * options.PacedReadAhead.TotalSeconds, long.MaxValue / 2) : long.MaxValue;
        }
    }

    /// <summary>The reader has taken bytes.</summary>
    public void Delivered(int count)
    {
        var now = time.GetTimestamp();
        if (time.GetElapsedTime(_last, now) > options.PacedReadAhead)
        {
            // A pause is no pace: a player that goes on after it fills its buffer first.
            (_start, _bytes, _rate) = (now, 0, 0);
        }

        _last = now;
        _bytes += count;
    }

    private void Measure(long now)
    {
        var elapsed = time.GetElapsedTime(_start, now);
        if (elapsed < Window)
            return;
        _rate = _bytes / elapsed.TotalSeconds;
        (_start, _bytes) = (now, 0);
    }
}

/// <summary>How late the stragglers of the line come, as all readers of late have found: a wait of one reader is held ahead by the next.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards all fields; nothing is called under it. Forgets after a minute or two, because lines change and are shared.
/// </remarks>
internal sealed class LineMemory(TimeProvider time)
{
    private static readonly TimeSpan Believed = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private double _before;
    private double _now;

    /// <summary>Seconds that a reader waited for an article which had to be asked for twice, the most of a minute or two; 0 when there was none.</summary>
    public double LateSeconds
    {
        get
        {
            lock (_gate)
            {
                Age();
                return Math.Max(_before, _now);
            }
        }
    }

    /// <summary>A reader has waited this many seconds for an article that had to be asked for twice.</summary>
    public void LearnLate(double seconds)
    {
        lock (_gate)
        {
            Age();
            _now = Math.Max(_now, seconds);
        }
    }

    private void Age()
    {
        var at = time.GetTimestamp();
        var elapsed = time.GetElapsedTime(_since, at);
        if (elapsed < Believed)
            return;
        (_since, _before, _now) = (at, elapsed < 2 * Believed ? _now : 0, 0);
    }
}
