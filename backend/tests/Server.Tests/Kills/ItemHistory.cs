namespace Sluice.Server.Tests.Kills;

/// <summary>What an operation asks for.</summary>
internal enum Act
{
    Add,
    AddPaused,
    Remove,
    Pause,
    Resume,

    /// <summary>Anything that changes no place and says whether the item is queued.</summary>
    Touch,
    Retry,

    /// <summary>The removal of a history item for good.</summary>
    Forget,
    LookQueue,
    LookHistory,
}

/// <summary>One operation of a client on one item.</summary>
/// <param name="Act">What was asked for.</param>
/// <param name="Called">Timestamp of before it was sent.</param>
/// <param name="Returned">Timestamp of after its answer, or of when the server was known to be gone.</param>
/// <param name="Answer">A word of <see cref="Answers"/> or a status; null where no answer came.</param>
internal sealed record Operation(Act Act, long Called, long Returned, string? Answer);

/// <summary>The answers that are no status of an item.</summary>
internal static class Answers
{
    public const string Done = "done";
    public const string Absent = "absent";
    public const string Paused = "Paused";
    public const string Queued = "Queued";
    public const string Completed = "Completed";
    public const string Failed = "Failed";
}

/// <summary>
/// Judges what clients have seen of one item, operations that overlap and unanswered ones included: there must be one order of them
/// in which each takes effect at one moment between its call and its answer, and in which an item that acts one operation at a time
/// gives the very answers that came (linearizability, by the search of Wing and Gong). One that a kill left without an answer has
/// happened before the kill or never.
/// </summary>
internal static class ItemHistory
{
    /// <summary>Most operations that can be judged.</summary>
    public const int Most = 120;

    /// <summary>Whether there is such an order.</summary>
    public static bool IsPossible(IEnumerable<Operation> operations)
    {
        Operation[] all = [.. operations.OrderBy(operation => operation.Called)];
        ArgumentOutOfRangeException.ThrowIfGreaterThan(all.Length, Most);
        return new Search(all).From(UInt128.Zero, new ItemState(Place.None, IsPaused: false));
    }

    private enum Place
    {
        None,
        Queue,
        Completed,
        Failed,
        Gone,
    }

    /// <param name="Place">Where the item is.</param>
    /// <param name="IsPaused">Whether it waits, where it is queued.</param>
    private readonly record struct ItemState(Place Place, bool IsPaused)
    {
        /// <summary>This state, and those that the end of an import leads to by itself.</summary>
        public IEnumerable<ItemState> WithImport() =>
            Place == Place.Queue && !IsPaused ? [this, To(Place.Completed), To(Place.Failed)] : [this];

        /// <summary>The state after an operation, or null where its answer cannot come from this one.</summary>
        public ItemState? After(Operation operation)
        {
            var isQueued = Place == Place.Queue;
            var isFinished = Place is Place.Completed or Place.Failed;
            return operation.Act switch
            {
                Act.Add or Act.AddPaused => Place == Place.None ? new ItemState(Place.Queue, operation.Act == Act.AddPaused) : null,
                Act.Remove => If(operation, isQueued, To(Place.Gone)),
                Act.Pause or Act.Resume when isQueued => this with { IsPaused = operation.Act == Act.Pause },
                Act.Pause or Act.Resume => this,
                Act.Touch => If(operation, isQueued, this),
                Act.Retry => If(operation, Place == Place.Failed, To(Place.Queue)),
                Act.Forget => isFinished ? To(Place.Gone) : this,
                Act.LookQueue => operation.Answer switch
                {
                    Answers.Absent => isQueued ? null : this,
                    Answers.Paused => isQueued && IsPaused ? this : null,
                    Answers.Queued => isQueued && !IsPaused ? this : null,
                    // Work that ends is shown for as long as it takes.
                    _ => isQueued ? this : null,
                },
                _ => operation.Answer switch
                {
                    Answers.Absent => isFinished ? null : this,
                    Answers.Completed => Place == Place.Completed ? this : null,
                    _ => Place == Place.Failed ? this : null,
                },
            };
        }

        private static ItemState To(Place place) => new(place, IsPaused: false);

        private ItemState? If(Operation operation, bool has, ItemState then) => operation.Answer switch
        {
            null => has ? then : this,
            Answers.Absent => has ? null : this,
            _ => has ? then : null,
        };
    }

    private sealed class Search(Operation[] all)
    {
        private readonly HashSet<(UInt128 Done, ItemState State)> _failed = [];

        public bool From(UInt128 done, ItemState state)
        {
            var (left, firstReturn, lastCall) = Frame(done);
            if (left == 0)
                return true;
            if (!_failed.Add((done, state)))
                return false;

            for (var i = 0; i < all.Length && all[i].Called <= firstReturn; i++)
            {
                if (IsDone(done, i) || all[i].Returned < lastCall)
                    continue;
                foreach (var before in state.WithImport())
                {
                    if (before.After(all[i]) is { } after && From(done | (UInt128.One << i), after))
                        return true;
                }
            }

            return false;
        }

        /// <summary>How many answered operations are left, the first return of them, and the last call of those that are done.</summary>
        private (int Left, long FirstReturn, long LastCall) Frame(UInt128 done)
        {
            var (left, firstReturn, lastCall) = (0, long.MaxValue, long.MinValue);
            for (var i = 0; i < all.Length; i++)
            {
                if (IsDone(done, i))
                    lastCall = Math.Max(lastCall, all[i].Called);
                else if (all[i].Answer is not null)
                    (left, firstReturn) = (left + 1, Math.Min(firstReturn, all[i].Returned));
            }

            return (left, firstReturn, lastCall);
        }

        private static bool IsDone(UInt128 done, int i) => (done >> i & UInt128.One) != UInt128.Zero;
    }
}
