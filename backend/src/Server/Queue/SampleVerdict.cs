using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>Decides by the answered sample whether too much of a release is missing (IMP-60). Pure.</summary>
internal static class SampleVerdict
{
    // Of fewer articles one that is missing is more than a tenth, and the probe has judged them.
    private const int Least = 8;

    /// <summary>Why the release is not published, or null.</summary>
    public static ImportFailure? Judge(AvailabilitySample sample) =>
        sample.Count is { IsSevere: true } count && count.Answered >= Math.Min(Least, sample.Size)
            ? ImportFailure.SevereDamage(count.Missing, count.Answered)
            : null;
}
