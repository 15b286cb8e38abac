using Sluice.Server.History;

namespace Sluice.Server.Queue.Steps;

/// <summary>Decides from the sample whether too much of a release is missing (IMP-60). Pure.</summary>
internal static class SampleVerdict
{
    // With fewer answers, a single missing article could exceed a tenth, which says little about the release.
    private const int Least = AvailabilitySample.MaxArticles / 2;

    /// <summary>Returns why the release cannot be published, or null.</summary>
    public static ImportFailure? Judge(AvailabilitySample sample) =>
        sample.Count is { IsSevere: true } count && (sample.IsComplete || count.Answered >= Least)
            ? ImportFailure.SevereDamage(count.Missing, count.Answered)
            : null;
}
