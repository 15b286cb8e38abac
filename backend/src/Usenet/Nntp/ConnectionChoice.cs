namespace Sluice.Usenet.Nntp;

/// <summary>The two connections worth considering for one more command of a lane.</summary>
/// <param name="Idle">One with nothing outstanding; null when there is none.</param>
/// <param name="Busy">One of the same lane with room in its pipeline, the one that owes least; null when there is none.</param>
internal readonly record struct ConnectionChoice(NntpConnection? Idle, NntpConnection? Busy)
{
    /// <summary>Looks at the open connections of a pool, under its lock.</summary>
    /// <param name="open">In the order of their opening.</param>
    /// <param name="lane">Lane of the command; two lanes never share a busy connection.</param>
    /// <param name="depth">Commands that a connection takes.</param>
    public static ConnectionChoice Of(List<NntpConnection> open, OperationLane lane, int depth)
    {
        NntpConnection? idle = null;
        NntpConnection? busy = null;
        foreach (var connection in open)
        {
            var load = connection.Load;
            if (load.Commands == 0)
                idle = connection;
            else if (load.Lane == lane && load.Commands < depth && (busy is null || load.Bytes < busy.Load.Bytes))
                busy = connection;
        }

        return new ConnectionChoice(idle, busy);
    }
}
