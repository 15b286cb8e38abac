using Microsoft.Extensions.Options;
using Sluice.Server.AdminApi;
using Sluice.Server.Arr;
using Sluice.Server.Auth;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.FamilyImport;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Listening;
using Sluice.Server.Outbound;
using Sluice.Server.Pages;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Queue.Steps;
using Sluice.Server.SabApi;
using Sluice.Server.Settings;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Handlers;
using Sluice.Server.WebDav.Tree;
using Sluice.Usenet.Nntp;

namespace Sluice.Server;

/// <summary>The composition root. Each folder adds its own services, in layer order.</summary>
internal static class Program
{
    public static Task<int> Main(string[] arguments)
    {
        if (UnicodeLibrary.Check() is var code and not 0)
            return Task.FromResult(code);

        var environment = ProcessEnvironment.OfThisProcess();
        if (arguments is [HealthQuestion.Argument])
            return HealthQuestion.AskAsync(ProcessOptions.Read(environment));

        WiderBuild.ReplaceProcess(environment);
        if (BackupCommand.Takes(arguments))
            return BackupCommand.RunAsync(arguments, Build);
        return ProcessExit.RunAsync(Build);
    }

    /// <summary>Builds the application without opening any file or socket.</summary>
    public static WebApplication Build(ProcessEnvironment environment) => Build(environment, _ => { });

    /// <summary>Builds the application with some services replaced, so that tests can use their own clock or disk.</summary>
    internal static WebApplication Build(ProcessEnvironment environment, Action<IServiceCollection> replace)
    {
        var process = ProcessOptions.Read(environment);
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        builder.Services.AddSingleton(TimeProvider.System).AddRouting();
        builder.Services.AddDatabase(new DataFolder(process.ConfigPath) { StartedAsRoot = environment.StartedAsRoot });
        builder.Services.AddSettings(environment, process);
        builder.Services.AddBackups();
        builder.AddDiagnostics();
        builder.AddListener(process);
        builder.Services.AddAuth();
        builder.Services.AddOutbound();
        builder.Services.AddArr();
        builder.Services.AddEvents();
        builder.Services.AddProviders(process);
        builder.Services.AddLibrary().AddPlaybacks().AddHistory().AddQueue().AddSteps().AddIntake();
        builder.Services.AddFamilyImport();
        builder.Services.AddTree().AddWebDav(services => new DavOptions
        {
            FirstByteTimeout = services.GetRequiredService<IOptionsMonitor<UsenetOptions>>().CurrentValue.StreamingReadTimeout,
            WriteTimeout = services.GetRequiredService<IOptionsMonitor<UsenetOptions>>().CurrentValue.StreamingWriteTimeout,
            SincePaced = () => services.GetRequiredService<SincePaced>()(OperationLane.Playback),
            MaxUploadBytes = process.MaxRequestBodySize,
        });
        builder.Services.AddSabApi();
        builder.Services.AddAdminApi();
        builder.Services.AddPages();
        replace(builder.Services);

        var app = builder.Build();
        app.UseRequestCounts(AdminRegistration.EdgeOf);
        app.UsePlaybackScopes();
        app.UseRequestLines();
        app.UseRequestFailures();
        app.UseAnswerDeadlines();
        app.UseTrustedProxies();
        app.UseUrlBase();
        app.UseBodyLimits();
        app.UseRouting();
        app.UseSabApiPaths(path => TreeNames.IsBelowTree(path.Value ?? ""), AdminRegistration.IsUnknownCall);
        app.UseAnswerCompression();
        app.UseAdminGate();
        app.UseSafeModeNotice();
        app.UseAuthentication();
        app.UseAuthorization();
        app.UseProvedRequests();
        app.UseAdminRights();
        app.UseUnavailableGate();
        app.MapHealth().OpenAs(OpenEndpoint.Process);
        app.MapMetrics();
        app.MapSabApi();
        app.MapAdminApi();
        app.MapPages(path => TreeNames.IsFolder(path.Value ?? ""), path => TreeNames.IsUnknown(path.Value ?? ""));
        app.MapView();
        app.MapWebDav();
        return app;
    }
}
