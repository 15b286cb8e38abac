namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// Decides how many segments a reader holds ahead: one at first, two once the reader continues. After that, each wait for a segment of the latest step doubles
/// the window. If only the round trip limits the rate, the window grows to many times the bytes read. Growth stops once it no longer raises the rate, so that
/// the window stays near rate × round trip. The window never exceeds the memory share, or a few seconds at a paced reader's rate.
/// </summary>
/// <remarks>State of one reader, guarded by that reader. Does no I/O.</remarks>
internal sealed class ReadAheadPolicy
{
    private const int MostSegments = 1 << 20;
    private const int ShortestHold = 4;
    private const int LongestHold = 64;

    // A smaller gain means that the enlargement did not help.
    private const double LeastGain = 1.1;

    // Articles requested together arrive at different times. A window of just rate × the shortest round trip would run dry at each late article. Waking the
    // reader for each article would cost more than the memory.
    private const double UsualSlack = 4;

    // Slack is worth memory up to this many bytes. A larger window serves only a larger rate × round trip, plus the slack needed for jitter.
    private const double ComfortableBytes = 64 << 20;
    private const double LeastSlack = 2;

    // Bytes per second; more than any connection carries.
    private const double FastestLine = 1.5e9;

    // Assumed rate during the ramp, when none is measured yet: 10 Gbit/s. The window of a slower reader is full before the first hold.
    private const double UsualLine = 1.3e9;

    // If rate × round trip reaches this share of the window, the connection has spare capacity, so the round trip limits the rate.
    private const double FullUse = 0.6;

    // No reader holds more than this multiple of the bytes it has read, so that an abandoned seek costs little, even across a segment border. If latency
    // limits the rate, each increase costs a round trip, so the second one requests the full allowance.
    private const int AheadOfRead = 16;

    private static readonly TimeSpan FastReadTime = TimeSpan.FromMilliseconds(50);

    private readonly LineMemory _memory;
    private readonly PacedRate _paced;
    private readonly StreamOptions _options;
    private readonly TimeProvider _time;
    private readonly long _openedAt;
    private int _target = 1;
    private int _segmentBytes = 1;

    // Shortest time in seconds from request to arrival, without queueing. Never reset, because a full window would measure its own queue. If the connection has
    // become slower, the gain of an enlargement shows that.
    private double _roundTrip = double.PositiveInfinity;

    // Waits count from this piece on, the first one requested at the current window size.
    private int _telling;

    // Window and rate before the latest enlargement, while that enlargement is on trial. The rate is 0 before the first enlargement.
    private int _lastTarget;
    private double _lastRate;
    private bool _isTried;

    // _held: waits still to ignore. _hold: waits to ignore after the next useless enlargement. _heldRate: rate at the start of the hold.
    private int _held;
    private int _hold = ShortestHold;
    private double _heldRate;
    private bool _isPiledUp;

    // Whether the ramp is over. If the round trip still limits the rate, it has become longer, so the window then grows in smaller steps.
    private bool _hasHeld;
    private bool _isProbing;

    private long _firstByteAt;
    private long _delivered;
    private long _markBytes;
    private long _markTime;
    private long _waitingSince;

    // Rate of the last step; 0 before the first.
    private double _rate;

    public ReadAheadPolicy(StreamOptions options, LineMemory memory, TimeProvider time)
    {
        _options = options;
        _memory = memory;
        _time = time;
        _paced = new PacedRate(options, time);
        _openedAt = time.GetTimestamp();
    }

    /// <summary>Counts bytes of the head segment delivered to the reader.</summary>
    public void Delivered(int count, int headNumber, bool endsPiece)
    {
        if (_delivered == 0)
            _firstByteAt = _time.GetTimestamp();
        _delivered += count;
        _paced.Delivered(count);
        if (_target > 1 || _delivered <= _options.ProbeBytes)
            return;

        // Two segments are requested from here on, so only a wait after the first of them shows that two are too few.
        _target = 2;
        _telling = headNumber + (endsPiece ? 2 : 1);
    }

    /// <summary>Reports that the reader waits for the head. A wait for a slot claimed before the last step says nothing about that step.</summary>
    public void Waited(int headNumber)
    {
        var now = _time.GetTimestamp();
        _waitingSince = now;
        if (_target == 1 || headNumber < _telling)
            return;
        var seconds = _time.GetElapsedTime(_markTime, now).TotalSeconds;
        // The first wait measures only the landing segment, which says nothing about loading two at a time.
        var rate = _markBytes > 0 && seconds > 0 ? (_delivered - _markBytes) / seconds : 0;
        (_markBytes, _markTime) = (_delivered, now);
        Step(rate);
        _telling = headNumber + _target;
    }

    /// <summary>
    /// Reports the arrival of the segment that the reader waited for. A straggler, which was requested twice, does not lower the measured rate, but the window
    /// covers such delays from now on.
    /// </summary>
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
        _target = (int)Math.Clamp(UsefulSegments(Math.Max(_rate, _paced.Rate)), _target, MostSegments);
    }

    /// <summary>Returns the number of segments to hold, including the one being read; at least 1.</summary>
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

    /// <summary>Shrinks the window after a long pause of the reader.</summary>
    public void Reset(int target)
    {
        _target = Math.Min(_target, target);
        (_telling, _held, _hold) = (0, 0, ShortestHold);
        (_isTried, _isProbing, _hasHeld) = (false, false, false);
        _markBytes = 0;
    }

    private void Step(double rate)
    {
        var needed = SegmentsPerRoundTrip(rate);
        var isKnown = rate > 0 && double.IsFinite(_roundTrip);
        var enough = UsefulSegments(rate);
        _rate = rate;

        // A rate measured while connections were opening, or alongside other readers, is outdated once a higher rate is seen. Bytes that piled up behind a
        // straggler do not count.
        if (_held > 0 && rate >= LeastGain * _heldRate && !_isPiledUp)
            _held = 0;
        _isPiledUp = false;
        if (_held > 0)
        {
            // The connection may have become slower, so more segments would only queue.
            if (isKnown && enough < _target)
                _target = Math.Max(2, (int)Math.Ceiling(enough));
            _isProbing = --_held == 0;
            return;
        }

        var gained = !_isTried || _lastRate == 0 || rate >= LeastGain * _lastRate;
        if (!gained)
            Hold(isKnown ? Math.Min(enough, _lastTarget + SegmentsForLateArticle(rate)) : _lastTarget, rate);
        else if (isKnown && !_isProbing && enough < _target)
            Hold(enough, rate);
        else
            Enlarge(rate, rate == 0 ? BeganSlowly : isKnown && !_isProbing && needed >= FullUse * _target);
    }

    /// <summary>
    /// Decides the first step, when no rate is known yet. The round trip limits the rate if the landing segment took longer to begin arriving than to be read.
    /// Otherwise the connection or the reader is slow.
    /// </summary>
    private bool BeganSlowly =>
        _time.GetElapsedTime(_firstByteAt) is var since && (since <= FastReadTime || since <= _time.GetElapsedTime(_openedAt, _firstByteAt));

    /// <summary>Returns the number of segments beyond which a larger window gains nothing at this rate.</summary>
    private double UsefulSegments(double rate)
    {
        var needed = SegmentsPerRoundTrip(rate);
        return Math.Max(LeastSlack * needed, Math.Min(UsualSlack * needed, ComfortableBytes / _segmentBytes)) + SegmentsForLateArticle(rate);
    }

    /// <summary>Returns the upper bound for enlargements, in segments; effectively unlimited while the round trip is unknown.</summary>
    /// <remarks>A rate measured during the ramp, or with too small a window, says little about the connection's capacity.</remarks>
    private double MaxUsefulSegments(double rate) =>
        double.IsFinite(_roundTrip)
            ? Math.Max(ComfortableBytes / _segmentBytes, SegmentsPerRoundTrip(_hasHeld ? Math.Min(UsualSlack * rate, FastestLine) : UsualLine)) + SegmentsForLateArticle(rate)
            : MostSegments;

    /// <summary>Segments that arrive within a round trip, plus the one being read.</summary>
    private double SegmentsPerRoundTrip(double rate) => 1 + (double.IsFinite(_roundTrip) ? rate * _roundTrip / _segmentBytes : 0);

    /// <summary>Segments read during the longest recent delay of an article; 0 if there was none.</summary>
    private double SegmentsForLateArticle(double rate) => rate * _memory.LateSeconds / _segmentBytes;

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
        var affordable = Math.Min(AheadOfRead * (double)_delivered / _segmentBytes, MaxUsefulSegments(rate));
        var wanted = Math.Min(affordable, tripLimits ? (_hasHeld ? 4.0 * _target : affordable) : 2.0 * _target);
        _target = (int)Math.Min(Math.Max(_target, wanted), MostSegments);
    }
}

/// <summary>Measures how fast a reader consumes bytes, and how many bytes are worth holding ahead at that rate.</summary>
/// <remarks>State of one reader, guarded by that reader. Does no I/O.</remarks>
internal sealed class PacedRate(StreamOptions options, TimeProvider time)
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(2);

    private long _start = time.GetTimestamp();
    private long _last = time.GetTimestamp();
    private long _bytes;
    private double _rate;

    public double Rate => _rate;

    /// <summary>Bytes worth holding: a few seconds at the measured rate; unbounded while the rate is unknown.</summary>
    public long ReadAhead
    {
        get
        {
            Measure(time.GetTimestamp());
            return _rate > 0 ? (long)Math.Min(_rate * options.PacedReadAhead.TotalSeconds, long.MaxValue / 2) : long.MaxValue;
        }
    }

    public void Delivered(int count)
    {
        var now = time.GetTimestamp();
        if (time.GetElapsedTime(_last, now) > options.PacedReadAhead)
        {
            // A pause resets the rate, because a player that resumes fills its buffer first.
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

/// <summary>Remembers how late stragglers arrive, so that after one reader had to wait, the next reader buffers enough for such a delay.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards all fields; nothing is called under it. Forgets after one to two minutes, because connections change.</remarks>
internal sealed class LineMemory(TimeProvider time)
{
    private static readonly TimeSpan Believed = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private double _before;
    private double _now;

    /// <summary>Longest wait in seconds for an article requested twice, within the last one to two minutes; 0 if none.</summary>
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

    /// <summary>Records how long a reader waited for an article requested twice.</summary>
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
