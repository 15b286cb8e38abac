namespace Sluice.Server.History;

/// <summary>A page of the history at one moment.</summary>
/// <param name="Matches">How many items match, on this page and off it.</param>
/// <param name="Numbers">The row numbers of those on it, as the database gathers them.</param>
internal sealed record HistoryPage(long Matches, string Numbers);
