namespace Sluice.Usenet.Nntp;

public enum FetchStage
{
    Deciding,

    WaitsForConnection,

    /// <summary>The command was sent, but no byte has arrived.</summary>
    Asked,

    Receiving,
}

/// <summary>The progress of a fetch at one moment.</summary>
/// <param name="Provider">Name of the current provider; empty if there is none.</param>
/// <param name="AskedAt">When that provider was chosen, before any wait for a connection, in ticks of the time provider; 0 if there is none.</param>
/// <param name="IsLate">Whether the article is late: it was hedged, or its connection is silent.</param>
public readonly record struct FetchSnapshot(FetchStage Stage, string Provider, long AskedAt, bool IsLate);

/// <summary>The connections of one account at one moment.</summary>
/// <param name="Open">Number of connections that accept commands.</param>
/// <param name="Busy">Number of connections in use, waiting for a reply or about to send a command.</param>
/// <param name="IsFull">Whether the connection limit is reached.</param>
/// <param name="IsReachable">Whether an article request is likely to get through.</param>
/// <param name="IsLineFull">Whether the line is full, so that further requests would only queue.</param>
public sealed record ConnectionSnapshot(int Open, int Busy, bool IsFull, bool IsReachable, bool IsLineFull);
