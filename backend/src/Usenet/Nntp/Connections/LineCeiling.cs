using System.Numerics;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// How many bytes may be outstanding at one provider before more of them only queue. Bytes on the wire cannot be overtaken: where a
/// line is full, a reader who begins to wait for an article waits for all that was asked for before. So as soon as articles take twice as
/// long as one that has the line to itself, no more is fetched ahead than keeps the line full; what waits here can be overtaken.
/// </summary>
/// <remarks>
/// Pure state of one pool, used under its lock. By Little's law the bytes outstanding are the rate times the time that articles take,
/// so those that the line needs are the bytes outstanding, divided by how many times as long as necessary articles take.
/// </remarks>
internal sealed class LineCeiling
{
    // Half of what is outstanding is under way then, the other half waits its turn: a late article leaves no gap.
    private const double Full = 2;

    // The line has room again. Round trips differ, and replies on one connection wait for each other: on a line with plenty of room,
    // too, articles take this much longer than the quickest of them.
    private const double Empty = 1.5;

    private const double NewSampleWeight = 0.2;

    // Where so few take long although no more are asked for, the line itself has become longer. That is believed as far as it lets
    // more be asked for, and no further: a very thin line looks the same.
    private const int Few = 3;
    private const double StillFull = 1.3;

    // One article that stalled says nothing about the line.
    private const double MostTelling = 6;

    // A line that has become longer is believed step by step.
    private const double Growth = 1.5;

    // While the line is full: whether it is a queue that takes the time.
    private QueueTrial _trial;

    // Seconds from a command to the end of its body where nothing queues, by the power of two of the size; 0 while unknown.
    private readonly double[] _alone = new double[64];
    private double _stretch;
    private double _outstanding;
    private long _least;
    private bool _isFull;

    /// <summary>Whether more that is asked for only queues.</summary>
    public bool IsFull => _isFull;

    /// <summary>
    /// Bytes that may be outstanding for one more article to be fetched ahead by a reader who shares the line with others: twice as
    /// much as it has been seen to carry, because no reader may find out at the cost of another's wait.
    /// </summary>
    public long Shared => _least == 0 ? long.MaxValue : Math.Max(_least, (long)(Full * _outstanding / _stretch));

    /// <summary>The same for one who has it to himself: no bound while it has room.</summary>
    public long Own => _isFull ? Shared : long.MaxValue;

    /// <summary>A body has come to its end in time.</summary>
    /// <param name="bytes">Its size; 0, where it was not known, says nothing.</param>
    /// <param name="seconds">From its command to its end.</param>
    /// <param name="before">Bytes that were outstanding when it was asked for, its own included.</param>
    /// <param name="after">Bytes that are outstanding now, its own not included.</param>
    /// <param name="now">When it ended, in seconds of any clock.</param>
    public void Ended(long bytes, double seconds, long before, long after, double now)
    {
        if (bytes <= 0 || seconds <= 0)
            return;
        var most = Math.Max(before, after + bytes);
        if (_isFull && _trial.Refutes(most, seconds / bytes, now - seconds, now))
        {
            // It has become longer: how long, the next articles say.
            Array.Clear(_alone);
            (_isFull, _least) = (false, 0);
        }

        var longest = _isFull && most <= Few * bytes ? StillFull : most / (double)bytes;
        var alone = Learn(ref _alone[BitOperations.Log2((ulong)bytes)], seconds, seconds / longest);
        var weight = _least == 0 ? 1 : NewSampleWeight;
        _stretch += weight * (Math.Min(seconds / alone, MostTelling) - _stretch);
        // What made an article take as long may have come in before it, or with it: at the end of a burst nothing is outstanding any more.
        _outstanding += weight * (most - _outstanding);

        // One article arrives while the next is asked for.
        _least = 2 * bytes;
        var isFull = _stretch > (_isFull ? Empty : Full);
        if (isFull && !_isFull)
            _trial = new QueueTrial(now);
        _isFull = isFull;
    }

    /// <param name="alone">What is known.</param>
    /// <param name="seconds">What an article took.</param>
    /// <param name="shared">The least that it would have taken alone: one of n articles on a line takes n times as long at most.</param>
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
/// Whether articles wait in a queue of the line: by Little's law those that are asked for among fewer bytes take less time then, in
/// proportion. Where they take as long as those before, it is the way that is long.
/// </summary>
/// <param name="since">When the line was found full: less is asked for from then on, in seconds.</param>
internal struct QueueTrial(double since)
{
    private const int Articles = 16;
    private const double NewSampleWeight = 1.0 / 8;

    // The bytes outstanding have to have come down this far, and the time by less than this share of that.
    private const double Fewer = 0.8;
    private const double Proportion = 0.4;

    private double _since = since;

    // Of articles that were asked for before, the last ones above all; then the sums over those that were asked for among fewer bytes.
    private double _bytesBefore;
    private double _secondsBefore;
    private double _bytes;
    private double _seconds;
    private int _count;

    /// <summary>An article has come to its end.</summary>
    /// <param name="outstanding">Bytes that were outstanding with it.</param>
    /// <param name="secondsPerByte">What it took, by its size.</param>
    /// <param name="askedAt">When it was asked for.</param>
    /// <param name="now">When it ended.</param>
    /// <returns>True when there is no queue.</returns>
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
