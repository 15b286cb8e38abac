namespace Sluice.Server.Tests.Kills;

/// <summary>Kinds of operations.</summary>
internal enum Act
{
    Add,
    AddPaused,
    Remove,
    Pause,
    Resume,

    /// <summary>Any operation that leaves the item where it is and whose answer tells whether it is queued.</summary>
    Touch,
    Retry,

    /// <summary>Removes a history item for good.</summary>
    Forget,
    LookQueue,
    LookHistory,
}

/// <summary>One operation of a client on one item.</summary>
/// <param name="Act">The kind.</param>
/// <param name="Called">Timestamp before the request was sent.</param>
/// <param name="Returned">Timestamp after the answer, or after the client noticed that the server had ended.</param>
/// <param name="Answer">One of <see cref="Answers"/> or a status; null if no answer arrived.</param>
internal sealed record Operation(Act Act, long Called, long Returned, string? Answer);

/// <summary>Answers to operations, and the statuses that the model distinguishes.</summary>
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
/// Checks the operations observed by the clients of one item for linearizability, by the search of Wing and Gong: in some order each
/// operation takes effect at one moment between its call and its answer, and an item that performs them one at a time gives exactly
/// the observed answers. Operations may overlap. An operation that a kill left unanswered took effect before the kill or never.
/// </summary>
internal static class ItemHistory
{
    /// <summary>Most operations that can be checked.</summary>
    public const int Most = 120;

    /// <summary>Whether such an order exists.</summary>
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

    /// <param name="Place">The list that contains the item.</param>
    /// <param name="IsPaused">Whether the item is paused; only for a queued item.</param>
    private readonly record struct ItemState(Place Place, bool IsPaused)
    {
        /// <summary>Returns this state and the states that a finished import may have led to.</summary>
        public IEnumerable<ItemState> WithImport() =>
            Place == Place.Queue && !IsPaused ? [this, To(Place.Completed), To(Place.Failed)] : [this];

        /// <summary>Returns the state after an operation, or null if its answer is impossible in this state.</summary>
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
                    // Any other status belongs to an import that is running, or still stopping after a pause.
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

        /// <summary>Counts the pending answered operations and returns their first return and the last call of the completed operations.</summary>
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
