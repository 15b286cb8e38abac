using System.Collections;
using System.Reflection;
using System.Threading.Tasks.Sources;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Locks and task sources on the path of one article from the socket to its waiter.</summary>
public sealed class RoadTests
{
    private const int MostLocks = 2;
    private const int MostTaskSources = 3;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact(Timeout = 60_000)]
    public async Task Body_bytes_reach_their_waiters_under_at_most_two_locks()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(1, 2_000_000));
        using var blocks = new BlockPool(4 << 20);
        using var cache = new SegmentCache(new StreamOptions(), TimeProvider.System);
        await using var fetcher = new SegmentFetcher(TestLoadServices.Of(host.Pool, blocks), cache, null);
        var file = host.File();
        var waiter = new LookingWaiter(new Piece(file, file.Map[0], 0, 0, file.Map[0].Length), new FetchUrgency(this, isHeadOfLine: true), [fetcher, host.Pool]);

        fetcher.Begin(waiter, OperationLane.Playback, Token);
        await waiter.IsOver.WaitAsync(Token);

        Assert.True(waiter.Locks.Count is > 0 and <= MostLocks, string.Join(", ", waiter.Locks));
    }

    [Fact]
    public void At_most_three_types_are_custom_task_sources()
    {
        var own = typeof(IArticleSource).Assembly.GetTypes().Where(type => IsTaskSource(type) && !(type.BaseType is { } parent && IsTaskSource(parent)));
        Assert.InRange(own.Count(), 1, MostTaskSources);

        static bool IsTaskSource(Type type) => type.GetInterfaces().Any(each =>
            each == typeof(IValueTaskSource) || (each.IsGenericType && each.GetGenericTypeDefinition() == typeof(IValueTaskSource<>)));
    }

    /// <summary>Finds, when bytes are published to it, which of all reachable locks the thread holds.</summary>
    private sealed class LookingWaiter(Piece piece, FetchUrgency urgency, object[] roots) : SegmentWaiter(piece, urgency, isEarly: true)
    {
        private readonly TaskCompletionSource _over = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>The types that own the held locks, at the moment when most were held.</summary>
        public List<string> Locks { get; private set; } = [];

        public Task IsOver => _over.Task;

        public override Task Lend(SegmentBuffer blocks) => throw new InvalidOperationException("There is no disk cache.");

        public override void Publish(SegmentBuffer buffer, int available)
        {
            var held = HeldLocks([.. roots, this]);
            if (held.Count > Locks.Count)
                Locks = held;
        }

        public override void Withdraw()
        {
        }

        public override void Complete(SegmentBuffer proved) => proved.Release();

        public override void Fail(Exception failure) => _over.TrySetException(failure);

        protected override void Ended() => _over.TrySetResult();

        private static List<string> HeldLocks(IEnumerable<object> from)
        {
            var held = new List<string>();
            var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
            var open = new Stack<object>(from);
            while (open.TryPop(out var at))
            {
                if (!seen.Add(at))
                    continue;
                foreach (var (owner, found) in ReachedFrom(at))
                {
                    if (found is Lock gate)
                    {
                        if (seen.Add(found) && gate.IsHeldByCurrentThread)
                            held.Add(owner.Name);
                    }
                    else
                    {
                        open.Push(found);
                    }
                }
            }

            return held;
        }

        private static IEnumerable<(Type Owner, object Found)> ReachedFrom(object from)
        {
            if (from is Array array)
            {
                foreach (var item in array)
                {
                    if (item is not null && MayHoldLocks(item.GetType()))
                        yield return (array.GetType(), item);
                }

                yield break;
            }

            for (var type = from.GetType(); type is not null && type != typeof(object); type = type.BaseType)
            {
                foreach (var field in type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
                {
                    if (!field.FieldType.IsPointer && field.GetValue(from) is { } value && MayHoldLocks(value.GetType()))
                        yield return (type, value);
                }
            }
        }

        // The engine's types, and the library types that contain them: lists, tables, queues, delegates.
        private static bool MayHoldLocks(Type type) =>
            type == typeof(Lock)
            || (type.Namespace?.StartsWith("Sluice", StringComparison.Ordinal) == true && !type.IsEnum)
            || (type.IsArray && !type.GetElementType()!.IsPrimitive)
            || typeof(Delegate).IsAssignableFrom(type)
            || (type.Namespace?.StartsWith("System.Collections", StringComparison.Ordinal) == true && (typeof(IEnumerable).IsAssignableFrom(type) || type.IsNested || type.Name.Contains("Node", StringComparison.Ordinal)));
    }
}
