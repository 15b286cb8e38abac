using System.Net;
using System.Runtime.CompilerServices;
using System.Threading.Channels;
using Sluice.Server.Outbound;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>Tests logins step by step, one at a time: two tests would take each other's connections.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProviderTester(ProviderHost providers, HostLookup lookup, SpeedBudget budget, TimeProvider time)
{
    private int _isTaken;

    /// <summary>Takes the turn for a test.</summary>
    /// <returns>Disposed by the caller when its test has ended; null while another has it.</returns>
    public IDisposable? TryTakeTurn() => Interlocked.Exchange(ref _isTaken, 1) == 0 ? new Turn(this) : null;

    /// <summary>Runs a test.</summary>
    /// <param name="subject">What is tested.</param>
    /// <param name="articles">Finds articles for the measure of the speed.</param>
    /// <param name="cancellationToken">Gives it up.</param>
    /// <returns>The news of its steps. When the enumeration has ended, in whatever way, every connection is closed.</returns>
    public async IAsyncEnumerable<TestStep> RunAsync(TestSubject subject, SpeedArticles articles, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        // Some hundred at most: one for each connection, one for each half second of the speed.
        var steps = Channel.CreateUnbounded<TestStep>(new UnboundedChannelOptions { SingleReader = true });
        using var gone = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var work = WorkAsync(subject, articles, steps.Writer, gone.Token);
        try
        {
            await foreach (var step in steps.Reader.ReadAllAsync(cancellationToken))
                yield return step;
        }
        finally
        {
            await gone.CancelAsync();
            await work;
        }
    }

    /// <summary>Never fails: what breaks it comes out of the channel.</summary>
    private async Task WorkAsync(TestSubject subject, SpeedArticles articles, ChannelWriter<TestStep> steps, CancellationToken cancellationToken)
    {
        try
        {
            await using (var account = providers.Test(subject.Provider, new GuardedNames(lookup, subject.IsSavedHost)))
                await new ProviderTestRun(account, subject, articles, budget, step => steps.TryWrite(step), time).RunAsync(cancellationToken);
            steps.Complete();
        }
        catch (Exception failure)
        {
            steps.Complete(failure);
        }
    }

    private sealed class Turn(ProviderTester tester) : IDisposable
    {
        public void Dispose() => Volatile.Write(ref tester._isTaken, 0);
    }

    /// <summary>Takes out addresses that no server of a network has (S10); the hosts that the administrator has saved are trusted.</summary>
    private sealed class GuardedNames(HostLookup lookup, bool isTrusted) : INameResolver
    {
        public async ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken)
        {
            var found = IPAddress.TryParse(host.Trim('[', ']'), out var literal) ? [literal] : await lookup(host, cancellationToken);
            if (isTrusted || found.Length == 0)
                return found;
            IPAddress[] allowed = [.. found.Where(address => AddressGuard.RefuseConfigured(address) is null)];
            return allowed.Length > 0 ? allowed : throw new AddressRefusedException(AddressGuard.RefuseConfigured(found[0])!);
        }
    }
}
