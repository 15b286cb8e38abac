using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>Puts logs, readiness and the start sequence together.</summary>
internal static class DiagnosticsRegistration
{
    /// <summary>Adds them. To be called before anything else that is hosted: the start sequence has to be the first, the work in the background the next.</summary>
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
            .AddHostedService<StartSequence>()
            .AddHostedService<BackgroundWork>()
            .AddSingleton<IWorker, IntegrityWork>()
            .AddSingleton<IWorker, AcceptedWork>()
            .AddSingleton<IWorker, StorageWatch>()
            .AddSingleton<StartNotes>()
            .AddSingleton<IWorker>(services => services.GetRequiredService<StartNotes>())
            .AddSingleton<ConsoleFormatter, SluiceConsoleFormatter>();
        builder.Logging.AddConsole(console => console.FormatterName = SluiceConsoleFormatter.FormatterName);
        return builder;
    }

    /// <summary>The check of the database as work in the background; its folder comes before this one.</summary>
    private sealed class IntegrityWork(IntegrityWorker integrity) : IWorker
    {
        public string Name => "the check of the database";

        public Task RunAsync(CancellationToken stopping) => integrity.RunAsync(stopping);
    }

    /// <summary>The note of accepted NZBs, likewise.</summary>
    private sealed class AcceptedWork(AcceptedWorker accepted) : IWorker
    {
        public string Name => "the note of accepted NZBs";

        public Task RunAsync(CancellationToken stopping) => accepted.RunAsync(stopping);
    }
}
