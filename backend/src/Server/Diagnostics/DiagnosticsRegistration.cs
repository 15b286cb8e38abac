using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;
using Sluice.Server.Backups;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

internal static class DiagnosticsRegistration
{
    /// <summary>Adds diagnostics. Call before other hosted services are added, because the startup sequence must run first.</summary>
    public static IHostApplicationBuilder AddDiagnostics(this IHostApplicationBuilder builder)
    {
        builder.Services
            .AddSingleton<LogRedactor>()
            .AddSingleton<RecentWarnings>()
            .AddSingleton<LogRing>()
            .AddSingleton<ILoggerProvider>(services => services.GetRequiredService<LogRing>())
            .AddSingleton<LogLevels>()
            .AddSingleton<IConfigureOptions<LoggerFilterOptions>>(services => services.GetRequiredService<LogLevels>())
            .AddSingleton<IOptionsChangeTokenSource<LoggerFilterOptions>>(services => services.GetRequiredService<LogLevels>())
            .AddSingleton<Readiness>()
            .AddSingleton<ProcessRestart>()
            .AddSingleton<Attention>()
            .AddSingleton<ProcessMetrics>()
            .AddSingleton<MetricSource>(services => services.GetRequiredService<ProcessMetrics>().WriteAsync)
            .AddSingleton<RequestCounts>()
            .AddSingleton<MetricSource>(services => services.GetRequiredService<RequestCounts>().WriteAsync)
            .AddHostedService<StartSequence>()
            .AddHostedService<BackgroundWork>()
            .AddSingleton<IWorker, IntegrityWork>()
            .AddSingleton<IWorker, AcceptedWork>()
            .AddSingleton<IWorker, BackupWork>()
            .AddSingleton<IWorker, SecondFolderWork>()
            .AddSingleton<IWorker, StorageWatch>()
            .AddSingleton<StartNotes>()
            .AddSingleton<IWorker>(services => services.GetRequiredService<StartNotes>())
            .AddSingleton<ConsoleFormatter, SluiceConsoleFormatter>();
        builder.Logging.AddConsole(console => console.FormatterName = SluiceConsoleFormatter.FormatterName);
        return builder;
    }

    private sealed class IntegrityWork(IntegrityWorker integrity) : IWorker
    {
        public string Name => "the check of the database";

        public Task RunAsync(CancellationToken stopping) => integrity.RunAsync(stopping);
    }

    private sealed class AcceptedWork(AcceptedWorker accepted) : IWorker
    {
        public string Name => "the note of accepted NZBs";

        public Task RunAsync(CancellationToken stopping) => accepted.RunAsync(stopping);
    }

    private sealed class BackupWork(BackupWorker backups) : IWorker
    {
        public string Name => "backups";

        public Task PrepareAsync(CancellationToken cancellationToken)
        {
            backups.Prepare();
            return Task.CompletedTask;
        }

        public Task RunAsync(CancellationToken stopping) => backups.RunAsync(stopping);
    }

    private sealed class SecondFolderWork(SecondFolderWorker second) : IWorker
    {
        public string Name => "copies of backups";

        public Task RunAsync(CancellationToken stopping) => second.RunAsync(stopping);
    }
}
