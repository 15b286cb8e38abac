namespace Sluice.Server.History;

/// <summary>How long one step of an import took and what it found (IMP-25).</summary>
/// <param name="Step">Name of the step.</param>
/// <param name="Milliseconds">From its start to its end.</param>
/// <param name="Detail">Counts in words, as in "3 files, 5 heads"; may be empty.</param>
internal sealed record StepTiming(string Step, long Milliseconds, string Detail);
