namespace Sluice.Usenet.Nntp;

/// <summary>How far a fetch is.</summary>
public enum FetchStage
{
    /// <summary>The fetch decides which provider to ask.</summary>
    Deciding,

    /// <summary>It waits for a connection.</summary>
    WaitsForConnection,

    /// <summary>The command was sent, and nothing has come.</summary>
    Asked,

    /// <summary>The article is coming.</summary>
    Receiving,
}

/// <summary>How a fetch gets on at one moment, for those who look on.</summary>
/// <param name="Stage">How far it is.</param>
/// <param name="Provider">The name of the provider that is asked; empty while none is.</param>
/// <param name="AskedAt">Since when that provider is asked, the wait for a connection included, in ticks of the time provider; 0 while none is.</param>
/// <param name="IsLate">Whether the article is late: it was asked for a second time, or its connection is silent.</param>
public readonly record struct FetchSnapshot(FetchStage Stage, string Provider, long AskedAt, bool IsLate);

/// <summary>What the connections of one account do at one moment, for those who look on.</summary>
/// <param name="Open">Connections that take commands.</param>
/// <param name="Busy">Those of them that owe a reply.</param>
/// <param name="IsFull">Whether no more may be opened.</param>
/// <param name="IsReachable">Whether articles can be asked for, as far as is known.</param>
/// <param name="IsLineFull">Whether more that is asked for would only queue on the line.</param>
public sealed record ConnectionSnapshot(int Open, int Busy, bool IsFull, bool IsReachable, bool IsLineFull);
