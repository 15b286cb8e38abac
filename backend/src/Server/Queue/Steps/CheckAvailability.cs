using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Judges the sample of articles that was asked for beside the heads (IMP-60), and where the settings want it asks for every article before
/// anything is published (IMP-61).
/// </summary>
internal sealed class CheckAvailability(ProviderHost providers, IOptionsMonitor<ImportOptions> import, TimeProvider time) : IImportStep
{
    /// <summary>How long answers are waited for once there is doubt.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    /// <inheritdoc/>
    public string Name => nameof(CheckAvailability);

    /// <inheritdoc/>
    public int Weight => 10;

    /// <inheritdoc/>
    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        var sample = work.Sample;
        // The first answers were under way with the heads; those behind them matter only where something is missing.
        await sample.WaitForFirstAsync(Patience, time, cancellationToken);
        if (sample.Count.Missing > 0)
            await sample.WaitForAllAsync(Patience, time, cancellationToken);
        var (asked, missing) = (sample.Count.Answered, sample.Count.Missing);
        if (work.Item.Retried.HasFlag(AnotherTry.IgnoresDamage))
        {
            progress.Findings = new StepFindings(("asked", asked), ("missing", missing));
            return null;
        }

        var failure = SampleVerdict.Judge(sample);
        if (failure is not null)
        {
            foreach (var id in sample.Missing)
                work.NoteGone(id);
        }
        else if (IsChecked(work.Item))
        {
            var check = new ArticleCheck(providers, work, import.CurrentValue);
            failure = await check.RunAsync(progress, cancellationToken);
            (asked, missing) = (check.Asked, check.Missing);
        }

        progress.Findings = new StepFindings(("asked", asked), ("missing", missing));
        return failure;
    }

    private bool IsChecked(QueueItem item) => import.CurrentValue.CheckedCategories.Any(
        category => category == CategoryRules.None || category.Equals(item.Category, StringComparison.OrdinalIgnoreCase)
            || category.Equals(item.Folder, StringComparison.OrdinalIgnoreCase));
}
