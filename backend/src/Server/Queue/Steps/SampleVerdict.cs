using Sluice.Server.History;

namespace Sluice.Server.Queue.Steps;

/// <summary>Decides by the answered sample whether too much of a release is missing (IMP-60). Pure.</summary>
internal static class SampleVerdict
{
    // Of fewer answers one that is missing may be more than a tenth, which says nothing about the rest.
    private const int Least = AvailabilitySample.Most / 2;

    /// <summary>Why the release is not published, or null.</summary>
    public static ImportFailure? Judge(AvailabilitySample sample) =>
        sample.Count is { IsSevere: true } count && (sample.IsComplete || count.Answered >= Least)
            ? ImportFailure.SevereDamage(count.Missing, count.Answered)
            : null;
}
