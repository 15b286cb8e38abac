namespace Sluice.Usenet.Nntp;

/// <summary>The connections worth considering for one more command of a lane.</summary>
/// <param name="Idle">One with nothing outstanding; null when there is none.</param>
/// <param name="Busy">One of the same lane with room in its pipeline, the one that owes least; null when there is none.</param>
/// <param name="Silent">One that is idle and whose sign of life is late; null when there is none.</param>
internal readonly record struct ConnectionChoice(ConnectionLoad? Idle, ConnectionLoad? Busy, ConnectionLoad? Silent)
{
    /// <summary>Looks at the open connections of a pool, under its lock.</summary>
    /// <param name="open">In the order of their opening.</param>
    /// <param name="request">What is to be sent; two lanes never share a busy connection.</param>
    /// <param name="terms">What a connection takes at a time.</param>
    /// <param name="spared">Not for this lane now; null for none.</param>
    public static ConnectionChoice Of(List<ConnectionLoad> open, in ArticleRequest request, LeaseTerms terms, ConnectionLoad? spared)
    {
        ConnectionLoad? idle = null;
        ConnectionLoad? busy = null;
        ConnectionLoad? silent = null;
        foreach (var load in open)
        {
            if (load == spared || load.IsLeaving || IsAvoided(load, request, open, terms))
                continue;
            if (load.Commands == 0)
            {
                if (load.IsLate)
                    silent = load;
                else
                    idle = load;
            }
            else if (!load.IsLate && load.Lane == request.Lane && HasRoom(load, request, terms) && (busy is null || load.Bytes < busy.Bytes))
            {
                busy = load;
            }
        }

        return new ConnectionChoice(idle, busy, silent);
    }

    /// <summary>Whether another connection must bring the article; where there is none and none can be had, this one does.</summary>
    private static bool IsAvoided(ConnectionLoad load, in ArticleRequest request, List<ConnectionLoad> open, LeaseTerms terms) =>
        request.Avoided is { } avoided && (open.Count > 1 || terms.MoreMayServe) && avoided.Contains(load.Connection);

    private static bool HasRoom(ConnectionLoad load, in ArticleRequest request, LeaseTerms terms)
    {
        if (load.IsAlone || request.IsAlone)
            return false;
        return request.Stats == 0 ? load.Commands < terms.BodiesOn(load, request.Lane) : load.Stats + request.Stats <= terms.StatDepth;
    }
}
