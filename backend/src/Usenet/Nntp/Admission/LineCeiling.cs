using System.Numerics;

namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// Learns how many bytes may be outstanding at one provider before further bytes only queue. Bytes on the wire cannot be overtaken, so on a full line an urgent
/// article waits for all bytes requested before. Once articles take twice as long as on an idle line, prefetching is limited to the bytes that keep it full.
/// Fetches waiting here can still be overtaken.
/// </summary>
/// <remarks>
/// Used under the lock of one pool. By Little's law the bytes outstanding equal the rate times the time per article. So the line needs the outstanding bytes
/// divided by the factor by which articles are slower than necessary.
/// </remarks>
internal sealed class LineCeiling
{
    // Half of the outstanding bytes are then in transit and half wait their turn, so a late article leaves no gap.
    private const double Full = 2;

    // Below this the line has room again. Round trips differ and replies on one connection queue, so even on an idle line articles take
    // this much longer than the quickest one.
    private const double Empty = 1.5;

    private const double NewSampleWeight = 0.2;

    // If articles remain slow with so few outstanding, the path itself has become longer. This assumption ends when more may be requested, because a very
    // thin line looks the same.
    private const int Few = 3;
    private const double StillFull = 1.3;

    // Caps one sample, because a single stalled article says nothing about the line.
    private const double MostTelling = 6;

    // Maximum growth of a learned time per sample, so that a longer line is accepted in steps.
    private const double Growth = 1.5;

    // While the line is full, tests whether a queue causes the delay.
    private QueueTrial _trial;

    // Seconds from a command to the end of its body without queueing, by the power of two of the size; 0 if unknown.
    private readonly double[] _alone = new double[64];
    private double _stretch;
    private double _outstanding;
    private long _least;
    private bool _isFull;

    /// <summary>Whether further requests would only queue.</summary>
    public bool IsFull => _isFull;

    /// <summary>Maximum outstanding bytes of a reader that shares the line: twice the load, because probing for more would make others wait.</summary>
    public long Shared => _least == 0 ? long.MaxValue : Math.Max(_least, (long)(Full * _outstanding / _stretch));

    /// <summary>Maximum outstanding bytes of a reader alone on the line; unlimited while the line has room.</summary>
    public long Own => _isFull ? Shared : long.MaxValue;

    /// <summary>Measures a body that arrived in time.</summary>
    /// <param name="bytes">Its size; 0 if unknown, which is ignored.</param>
    /// <param name="seconds">From its command to its end.</param>
    /// <param name="before">Bytes outstanding when it was requested, including its own.</param>
    /// <param name="after">Bytes outstanding now, without its own.</param>
    /// <param name="now">When it ended, in seconds on any clock.</param>
    public void Ended(long bytes, double seconds, long before, long after, double now)
    {
        if (bytes <= 0 || seconds <= 0)
            return;
        var most = Math.Max(before, after + bytes);
        if (_isFull && _trial.Refutes(most, seconds / bytes, now - seconds, now))
        {
            // The path has become longer, so forget the times and learn them again.
            Array.Clear(_alone);
            (_isFull, _least) = (false, 0);
        }

        var longest = _isFull && most <= Few * bytes ? StillFull : most / (double)bytes;
        var alone = Learn(ref _alone[BitOperations.Log2((ulong)bytes)], seconds, seconds / longest);
        var weight = _least == 0 ? 1 : NewSampleWeight;
        _stretch += weight * (Math.Min(seconds / alone, MostTelling) - _stretch);
        // Bytes received before or during the article delayed it too, so at the end of a burst the larger of both counts applies.
        _outstanding += weight * (most - _outstanding);

        // Allows one article to arrive while the next is requested.
        _least = 2 * bytes;
        var isFull = _stretch > (_isFull ? Empty : Full);
        if (isFull && !_isFull)
            _trial = new QueueTrial(now);
        _isFull = isFull;
    }

    // One of n articles on a line takes at most n times as long, so "shared" is a lower bound of the time alone.
    private static double Learn(ref double alone, double seconds, double shared)
    {
        if (alone <= 0 || seconds < alone)
            alone = seconds;
        else if (shared > alone)
            alone = Math.Min(shared, alone * Growth);
        return alone;
    }
}

/// <summary>
/// Tests whether articles wait in a queue of the line. By Little's law, articles requested among fewer bytes then take proportionally
/// less time. If they do not, the path is long rather than full. Less is requested from <c>since</c> on, in seconds.
/// </summary>
internal struct QueueTrial(double since)
{
    private const int Articles = 16;
    private const double NewSampleWeight = 1.0 / 8;

    // The outstanding bytes must drop below this factor, and the time by less than this share of the drop.
    private const double Fewer = 0.8;
    private const double Proportion = 0.4;

    private double _since = since;

    // Weighted averages over articles requested before the trial, then averages over articles requested while fewer bytes were outstanding.
    private double _bytesBefore;
    private double _secondsBefore;
    private double _bytes;
    private double _seconds;
    private int _count;

    /// <summary>Adds a finished article and the bytes outstanding with it; true if there is no queue. Times are in seconds.</summary>
    public bool Refutes(long outstanding, double secondsPerByte, double askedAt, double now)
    {
        if (askedAt < _since || _bytesBefore == 0)
        {
            var weight = _bytesBefore == 0 ? 1 : NewSampleWeight;
            _bytesBefore += weight * (outstanding - _bytesBefore);
            _secondsBefore += weight * (secondsPerByte - _secondsBefore);
            return false;
        }

        if (outstanding > Fewer * _bytesBefore)
            return false;
        (_bytes, _seconds, _count) = (_bytes + ((double)outstanding / Articles), _seconds + (secondsPerByte / Articles), _count + 1);
        if (_count < Articles)
            return false;
        if (1 - (_seconds / _secondsBefore) < Proportion * (1 - (_bytes / _bytesBefore)))
            return true;
        this = new QueueTrial(now) { _bytesBefore = _bytes, _secondsBefore = _seconds };
        return false;
    }
}
