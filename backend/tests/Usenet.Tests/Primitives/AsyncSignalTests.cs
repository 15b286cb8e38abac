using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Usenet.Tests.Primitives;

public sealed class AsyncSignalTests
{
    private int _news;
    private int _begun;
    private int _set;

    [Fact]
    public async Task Signal_set_before_the_wait_completes_it_once()
    {
        var signal = new AsyncSignal();
        signal.Set();
        signal.Set();
        Assert.True(signal.WaitAsync().AsTask().IsCompleted);
        var next = signal.WaitAsync().AsTask();
        Assert.False(next.IsCompleted);
        signal.Set();
        await next;
    }

    /// <summary>
    /// The waiter consumes a pending signal at the moment of the next one: it sees the new value, or finds the signal pending again.
    /// </summary>
    [Fact(Timeout = 60_000)]
    public async Task Set_racing_with_a_wait_is_never_lost()
    {
        const int Rounds = 200_000;
        var signal = new AsyncSignal();
        var setter = Task.Factory.StartNew(Set, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        var waiter = Task.Factory.StartNew(Wait, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await setter;
        Assert.Equal(0, await waiter);

        void Set()
        {
            for (var round = 1; round <= Rounds; round++)
            {
                while (Volatile.Read(ref _begun) != round)
                {
                }

                Volatile.Write(ref _news, round);
                signal.Set();
                Volatile.Write(ref _set, round);
            }
        }

        int Wait()
        {
            var lost = 0;
            for (var round = 1; round <= Rounds; round++)
            {
                signal.Set();
                Volatile.Write(ref _begun, round);
                for (var i = round & 63; i > 0; i--)
                    Thread.SpinWait(0);
                Assert.True(HasEnded(signal.WaitAsync()));
                var isSeen = Volatile.Read(ref _news) == round;
                while (Volatile.Read(ref _set) != round)
                {
                }

                // The signal must be pending again, or the setter must end this wait.
                if (!HasEnded(signal.WaitAsync()))
                {
                    lost += isSeen ? 0 : 1;
                    signal.Set();
                }
            }

            return lost;
        }
    }

    private static bool HasEnded(ValueTask wait) => wait.IsCompleted;
}
