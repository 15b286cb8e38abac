namespace Sluice.Server.Queue;

/// <summary>What is being done with an item right now.</summary>
/// <param name="Step">Name of the step.</param>
/// <param name="Percent">0 to 100 over the whole import; never falls.</param>
/// <param name="Began">Timestamp of when the work on the item began.</param>
internal sealed record ItemActivity(string Step, int Percent, long Began);
