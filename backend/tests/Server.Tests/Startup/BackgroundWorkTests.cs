using System.Collections.Concurrent;
using System.Net;
using System.Threading.Channels;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>The process survives any exception of a background worker.</summary>
public sealed class BackgroundWorkTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Throwing_worker_is_restarted_and_the_server_stays_ready()
    {
        var runs = new ConcurrentDictionary<string, TaskCompletionSource>();
        await using (var host = await ProductHost.StartAsync(_temporary, null, services => BreakAll(services, runs)))
        {
            Assert.NotEmpty(runs);
            await Task.WhenAll(runs.Values.Select(again => again.Task)).WaitAsync(TimeSpan.FromMinutes(1), TimeProvider.System, Token);

            Assert.False(host.Get<IHostApplicationLifetime>().ApplicationStopping.IsCancellationRequested);
            using var ready = await host.Client.GetAsync(new Uri("/readyz", UriKind.Relative), Token);
            Assert.Equal(HttpStatusCode.OK, ready.StatusCode);
        }
    }

    [Fact]
    public async Task Only_the_runner_and_startup_parts_are_hosted_services()
    {
        await using var app = Program.Build(new ProcessEnvironment(new Dictionary<string, string> { ["CONFIG_PATH"] = _temporary.Root }));

        var hosted = app.Services.GetServices<IHostedService>().Where(service => service.GetType().Assembly == typeof(Program).Assembly).ToList();

        Assert.DoesNotContain(hosted, service => service is BackgroundService);
        Assert.Equal(
            ["BackgroundWork", "FirstStart", "RouteAssertion", "StartSequence", "VerbAssertion"],
            hosted.Select(service => service.GetType().Name).Order());
    }

    [Fact]
    public async Task Failing_worker_restarts_with_exponential_backoff()
    {
        var time = new ManualTimeProvider();
        var worker = new CountingWorker();
        await using var work = new BackgroundWork([worker], time, NullLogger<BackgroundWork>.Instance);
        await work.StartAsync(Token);

        foreach (var seconds in new[] { 1, 2, 4, 8, 16, 32, 60, 60 })
        {
            var before = await worker.NextAsync(Token);
            while (time.Waiting == 0)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
            time.Advance(TimeSpan.FromSeconds(seconds) - TimeSpan.FromTicks(1));
            Assert.Equal(before, worker.Runs);
            time.Advance(TimeSpan.FromTicks(1));
        }

        await worker.NextAsync(Token);
        await work.StopAsync(Token);
    }

    [Fact]
    public async Task Unrequested_stop_exits_with_code_70()
    {
        var code = await ProcessExit.RunAsync(_ =>
        {
            var app = Program.Build(
                new ProcessEnvironment(new Dictionary<string, string>
                {
                    ["CONFIG_PATH"] = _temporary.Root,
                    ["PORT"] = "0",
                    ["BIND_ADDRESS"] = "127.0.0.1",
                    ["SLUICE_CONFIG__WEBDAV__PASS"] = RunningServer.Password,
                }),
                services => services.AddLogging(logging => logging.ClearProviders()));
            app.Lifetime.ApplicationStarted.Register(app.Lifetime.StopApplication);
            return app;
        });

        Assert.Equal(70, code);
    }

    private static void BreakAll(IServiceCollection services, ConcurrentDictionary<string, TaskCompletionSource> runs)
    {
        for (var i = 0; i < services.Count; i++)
        {
            var service = services[i];
            if (service.ServiceType != typeof(IWorker))
                continue;
            services[i] = ServiceDescriptor.Singleton<IWorker>(provider =>
            {
                var inner = (IWorker)(service.ImplementationFactory?.Invoke(provider)
                    ?? ActivatorUtilities.CreateInstance(provider, service.ImplementationType!));
                var again = new TaskCompletionSource();
                Assert.True(runs.TryAdd(inner.Name, again), $"two workers are called {inner.Name}");
                return new BreakingWorker(inner, again);
            });
        }
    }

    /// <summary>Throws after each call of the worker, and on its first run.</summary>
    private sealed class BreakingWorker(IWorker inner, TaskCompletionSource again) : IWorker
    {
        private int _runs;

        public string Name => inner.Name;

        public async Task PrepareAsync(CancellationToken cancellationToken)
        {
            await inner.PrepareAsync(cancellationToken);
            throw new InvalidOperationException("broke before the start");
        }

        public Task RunAsync(CancellationToken stopping)
        {
            if (Interlocked.Increment(ref _runs) == 1)
                throw new InvalidOperationException("broke at once");
            again.TrySetResult();
            return inner.RunAsync(stopping);
        }

        public async Task FinishAsync(CancellationToken cancellationToken)
        {
            await inner.FinishAsync(cancellationToken);
            throw new InvalidOperationException("broke at the end");
        }
    }

    private sealed class CountingWorker : IWorker
    {
        private readonly Channel<int> _ran = Channel.CreateUnbounded<int>();
        private int _runs;

        public string Name => "counting";

        public int Runs => Volatile.Read(ref _runs);

        public ValueTask<int> NextAsync(CancellationToken cancellationToken) => _ran.Reader.ReadAsync(cancellationToken);

        public Task RunAsync(CancellationToken stopping)
        {
            _ran.Writer.TryWrite(Interlocked.Increment(ref _runs));
            throw new InvalidOperationException("always");
        }
    }
}
