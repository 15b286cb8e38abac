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

    // Seconds from a command to the end of its body where nothing queues, by the power of two of the size; 0 while unknown.
    private readonly double[] _alone = new double[64];
    private double _stretch;
    private double _outstanding;
    private long _least;
    private bool _isFull;

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
    public void Ended(long bytes, double seconds, long before, long after)
    {
        if (bytes <= 0 || seconds <= 0)
            return;
        var most = Math.Max(before, after + bytes);
        var longest = _isFull && most <= Few * bytes ? StillFull : most / (double)bytes;
        var alone = Learn(ref _alone[BitOperations.Log2((ulong)bytes)], seconds, seconds / longest);
        var weight = _least == 0 ? 1 : NewSampleWeight;
        _stretch += weight * (Math.Min(seconds / alone, MostTelling) - _stretch);
        // What made an article take as long may have come in before it, or with it: at the end of a burst nothing is outstanding any more.
        _outstanding += weight * (most - _outstanding);

        // One article arrives while the next is asked for.
        _least = 2 * bytes;
        _isFull = _stretch > (_isFull ? Empty : Full);
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
