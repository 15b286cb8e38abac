using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>The checker of SAB-92 accepts possible histories and rejects impossible ones.</summary>
public sealed class ItemHistoryTests
{
    [Fact]
    public void Valid_item_histories_are_accepted()
    {
        Accept(Do(Act.Add, 1, 2), Do(Act.LookQueue, 3, 4, Answers.Queued), Do(Act.LookQueue, 5, 6, "Downloading"), Do(Act.LookHistory, 7, 8, Answers.Completed));
        Accept(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Failed), Do(Act.Retry, 5, 6), Do(Act.LookHistory, 7, 8, Answers.Completed));
        Accept(Do(Act.AddPaused, 1, 2), Do(Act.LookQueue, 3, 4, Answers.Paused), Do(Act.Resume, 5, 6), Do(Act.LookHistory, 7, 8, Answers.Completed));
        Accept(Do(Act.AddPaused, 1, 2), Do(Act.Remove, 3, 4), Do(Act.LookQueue, 5, 6, Answers.Absent), Do(Act.LookHistory, 7, 8, Answers.Absent));
        Accept(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Completed), Do(Act.Forget, 5, 6), Do(Act.LookHistory, 7, 8, Answers.Absent));
    }

    [Fact]
    public void Histories_with_lost_or_duplicate_items_are_rejected()
    {
        Refuse(Do(Act.Add, 1, 2), Do(Act.LookQueue, 3, 4, Answers.Absent), Do(Act.LookHistory, 5, 6, Answers.Absent));
        Refuse(Do(Act.AddPaused, 1, 2), Do(Act.LookQueue, 3, 4, Answers.Absent));
        Refuse(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Completed), Do(Act.LookQueue, 5, 6, Answers.Queued));
        Refuse(Do(Act.Add, 1, 2), Do(Act.Remove, 3, 4), Do(Act.LookQueue, 5, 6, Answers.Queued));
        Refuse(Do(Act.Add, 1, 2), Do(Act.Remove, 3, 4), Do(Act.LookHistory, 5, 6, Answers.Completed));
        Refuse(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Completed), Do(Act.LookHistory, 5, 6, Answers.Failed));
        Refuse(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Completed), Do(Act.LookHistory, 5, 6, Answers.Absent));
    }

    [Fact]
    public void Responses_contradicting_the_item_state_are_rejected()
    {
        Refuse(Do(Act.AddPaused, 1, 2), Do(Act.Remove, 3, 4, Answers.Absent));
        Refuse(Do(Act.AddPaused, 1, 2), Do(Act.Remove, 3, 4), Do(Act.Remove, 5, 6));
        Refuse(Do(Act.AddPaused, 1, 2), Do(Act.Touch, 3, 4, Answers.Absent));
        Refuse(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Completed), Do(Act.Retry, 5, 6));
        Refuse(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Failed), Do(Act.Retry, 5, 6, Answers.Absent));
        Refuse(Do(Act.Add, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Completed), Do(Act.Touch, 5, 6));
    }

    [Fact]
    public void Import_of_a_paused_item_is_rejected()
    {
        Refuse(Do(Act.AddPaused, 1, 2), Do(Act.LookHistory, 3, 4, Answers.Completed));
        Refuse(Do(Act.Add, 1, 2), Do(Act.Pause, 3, 4), Do(Act.LookQueue, 5, 6, Answers.Paused), Do(Act.LookHistory, 7, 8, Answers.Completed));
        Refuse(Do(Act.Add, 1, 2), Do(Act.Pause, 3, 4), Do(Act.LookQueue, 5, 6, Answers.Queued));
        Accept(Do(Act.Add, 1, 2), Do(Act.Pause, 3, 4), Do(Act.LookHistory, 5, 6, Answers.Completed));
        Refuse(Do(Act.Add, 1, 2), Do(Act.Pause, 3, 8), Do(Act.LookQueue, 4, 5, Answers.Paused), Do(Act.LookHistory, 6, 7, Answers.Completed));
        Accept(Do(Act.Add, 1, 2), Do(Act.Pause, 3, 8), Do(Act.LookQueue, 4, 5, Answers.Queued), Do(Act.LookHistory, 6, 7, Answers.Completed));
    }

    [Fact]
    public void Overlapping_operations_may_occur_in_any_order()
    {
        Accept(Do(Act.AddPaused, 1, 2), Do(Act.Remove, 3, 8), Do(Act.LookQueue, 4, 5, Answers.Paused), Do(Act.LookQueue, 6, 7, Answers.Absent));
        Refuse(Do(Act.AddPaused, 1, 2), Do(Act.Remove, 3, 8), Do(Act.LookQueue, 4, 5, Answers.Absent), Do(Act.LookQueue, 6, 7, Answers.Paused));
        Accept(Do(Act.AddPaused, 1, 2), Do(Act.Remove, 3, 8, Answers.Absent), Do(Act.Remove, 4, 9));
    }

    [Fact]
    public void Unanswered_operation_happens_before_the_kill_or_never()
    {
        Operation[] removal = [Do(Act.AddPaused, 1, 2), Do(Act.Remove, 3, 6, null)];
        Accept([.. removal, Do(Act.LookQueue, 7, 8, Answers.Absent), Do(Act.LookHistory, 9, 10, Answers.Absent)]);
        Accept([.. removal, Do(Act.LookQueue, 7, 8, Answers.Paused)]);
        Accept([.. removal, Do(Act.LookQueue, 4, 5, Answers.Paused), Do(Act.LookQueue, 7, 8, Answers.Absent)]);
        Refuse([.. removal, Do(Act.LookQueue, 7, 8, Answers.Paused), Do(Act.LookQueue, 9, 10, Answers.Absent)]);
        Refuse([.. removal, Do(Act.LookQueue, 7, 8, Answers.Absent), Do(Act.LookQueue, 9, 10, Answers.Paused)]);
    }

    /// <summary>Simulated histories with overlaps and kills all pass; most of them fail once an answer is altered.</summary>
    [Fact]
    public void Simulated_histories_pass_and_many_altered_ones_fail()
    {
        var random = new Random(92);
        var refused = 0;
        for (var i = 0; i < 400; i++)
        {
            var history = Simulate(random);
            Accept(history);
            var at = random.Next(1, history.Length);
            var lie = history[at].Answer is null ? history[at] : history[at] with { Answer = Lie(history[at]) };
            refused += ItemHistory.IsPossible([.. history[..at], lie, .. history[(at + 1)..]]) ? 0 : 1;
        }

        Assert.InRange(refused, 100, 400);
    }

    private static string Lie(Operation operation) => operation switch
    {
        { Act: Act.Pause or Act.Resume or Act.Forget or Act.Add or Act.AddPaused } => Answers.Done,
        { Answer: Answers.Absent, Act: Act.LookQueue } => Answers.Paused,
        { Answer: Answers.Absent, Act: Act.LookHistory } => Answers.Completed,
        { Answer: Answers.Absent } => Answers.Done,
        _ => Answers.Absent,
    };

    /// <summary>Performs operations one at a time on an item, and then stretches each so that it overlaps others.</summary>
    private static Operation[] Simulate(Random random)
    {
        var (queued, paused, finished) = (true, true, (string?)null);
        List<Operation> history = [Do(Act.AddPaused, 0, 1)];
        for (var moment = 10; moment < 200; moment += 10)
        {
            if (queued && !paused && random.Next(6) == 0)
                (queued, finished) = (false, random.Next(2) == 0 ? Answers.Completed : Answers.Failed);
            var act = (Act)random.Next((int)Act.Remove, (int)Act.LookHistory + 1);
            var answer = act switch
            {
                Act.Remove or Act.Touch => queued ? Answers.Done : Answers.Absent,
                Act.Retry => finished == Answers.Failed ? Answers.Done : Answers.Absent,
                Act.LookQueue => queued ? (paused ? Answers.Paused : Answers.Queued) : Answers.Absent,
                Act.LookHistory => finished ?? Answers.Absent,
                _ => Answers.Done,
            };
            switch (act)
            {
                case Act.Remove when random.Next(4) == 0 && queued:
                    queued = false;
                    break;
                case Act.Remove:
                    continue;
                case Act.Pause or Act.Resume when queued:
                    paused = act == Act.Pause;
                    break;
                case Act.Retry when finished == Answers.Failed:
                    (queued, paused, finished) = (true, false, null);
                    break;
                case Act.Forget:
                    finished = null;
                    break;
            }

            history.Add(new Operation(act, moment - random.Next(25), moment + random.Next(25), random.Next(20) == 0 ? null : answer));
        }

        return [.. history];
    }

    private static Operation Do(Act act, long called, long returned, string? answer = Answers.Done) => new(act, called, returned, answer);

    private static void Accept(params Operation[] history) => Assert.True(ItemHistory.IsPossible(history), string.Join('\n', history.AsEnumerable()));

    private static void Refuse(params Operation[] history) => Assert.False(ItemHistory.IsPossible(history), string.Join('\n', history.AsEnumerable()));
}
