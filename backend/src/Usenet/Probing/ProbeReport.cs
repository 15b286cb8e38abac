namespace Sluice.Usenet.Probing;

/// <summary>What the probe of a release found out, and what it cost.</summary>
/// <param name="Files">One entry per posted file; in the order of the targets, joined ones at the place of their first segment.</param>
/// <param name="HeadsAsked">Articles that were asked for, each counted once however many providers had to be asked.</param>
/// <param name="Fetches">Fetches that were started: the articles, and the repetitions after damage or by another id.</param>
/// <param name="Misses">Articles that no provider has.</param>
/// <param name="Corrupt">Bodies that were refused: damaged, or another article than the one asked for.</param>
/// <param name="Bytes">Raw bytes that arrived, in bytes.</param>
public sealed record ProbeReport(IReadOnlyList<FileHead> Files, int HeadsAsked, int Fetches, int Misses, int Corrupt, long Bytes);
