using Microsoft.AspNetCore.Authentication;

namespace Sluice.Server.WebDav.Tree;

/// <summary>The tree of the product in the composition root.</summary>
internal static class TreeRegistration
{
    /// <summary>Adds the store that the verbs serve.</summary>
    public static IServiceCollection AddTree(this IServiceCollection services)
    {
        new AuthenticationBuilder(services).AddScheme<AuthenticationSchemeOptions, ViewAuthenticationHandler>(
            ViewAuthenticationHandler.SchemeName, null);
        // The framework's handler tells every challenge at Information.
        services.Configure<LoggerFilterOptions>(filters =>
            filters.Rules.Add(new LoggerFilterRule(null, typeof(ViewAuthenticationHandler).FullName, LogLevel.Warning, null)));
        return services
            .AddSingleton<RootFiles>()
            .AddSingleton<WaitingUploads>()
            .AddSingleton<QueueProperties>()
            .AddSingleton<LitterFiles>()
            .AddSingleton<ContentBranch>()
            .AddSingleton<QueueNames>()
            .AddSingleton<QueueChanges>()
            .AddSingleton<QueueBranch>()
            .AddSingleton<IdBranch>()
            .AddSingleton<HiddenLinks>()
            .AddSingleton<LinkBranch>()
            .AddSingleton<IStore, SluiceStore>()
            .AddSingleton<ViewEndpoint>()
            .AddHostedService<RouteAssertion>();
    }
}
