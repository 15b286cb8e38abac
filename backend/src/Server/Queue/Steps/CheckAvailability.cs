using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue.Steps;

/// <summary>Evaluates the sample that ProbeHeads started (IMP-60). Checks every article before publication if the settings require it (IMP-61).</summary>
internal sealed class CheckAvailability(ProviderHost providers, IOptionsMonitor<ImportOptions> import, TimeProvider time) : IImportStep
{
    /// <summary>Maximum wait for answers if articles are missing.</summary>
    public static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(2);

    public string Name => nameof(CheckAvailability);

    public int Weight => 10;

    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        var sample = work.Sample;
        // The first batch was sent with the heads. The others matter only if it has a missing article.
        await sample.WaitForFirstAsync(AnswerTimeout, time, cancellationToken);
        if (sample.Count.Missing > 0)
            await sample.WaitForAllAsync(AnswerTimeout, time, cancellationToken);
        var (asked, missing) = (sample.Count.Answered, sample.Count.Missing);
        work.Checked = new SampleCount(asked, missing);
        if (work.Item.Retried.HasFlag(RetryKind.IgnoresDamage))
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
        else if (!work.IsListed && IsChecked(work.Item))
        {
            var check = new ArticleCheck(providers, work, import.CurrentValue);
            failure = await check.RunAsync(progress, cancellationToken);
            (asked, missing) = (check.Asked, check.Missing);
            work.Checked = new SampleCount(asked, missing);
        }

        progress.Findings = new StepFindings(("asked", asked), ("missing", missing));
        return failure;
    }

    private bool IsChecked(QueueItem item) => import.CurrentValue.CheckedCategories.Any(
        category => category == CategoryRules.None || category.Equals(item.Category, StringComparison.OrdinalIgnoreCase)
            || category.Equals(item.Folder, StringComparison.OrdinalIgnoreCase));
}
