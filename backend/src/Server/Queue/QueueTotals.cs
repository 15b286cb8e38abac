namespace Sluice.Server.Queue;

/// <summary>Sums over the queue.</summary>
/// <param name="Items">Every item.</param>
/// <param name="Matches">Those that the filter let through.</param>
/// <param name="EncodedBytes">Encoded size of every item.</param>
internal sealed record QueueTotals(int Items, int Matches, long EncodedBytes);
