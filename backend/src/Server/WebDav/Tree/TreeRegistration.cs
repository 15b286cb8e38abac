namespace Sluice.Server.WebDav.Tree;

/// <summary>The tree of the product in the composition root.</summary>
internal static class TreeRegistration
{
    /// <summary>Adds the store that the verbs serve.</summary>
    public static IServiceCollection AddTree(this IServiceCollection services) => services
        .AddSingleton<RootFiles>()
        .AddSingleton<WaitingUploads>()
        .AddSingleton<ContentBranch>()
        .AddSingleton<QueueBranch>()
        .AddSingleton<IdBranch>()
        .AddSingleton<HiddenLinks>()
        .AddSingleton<LinkBranch>()
        .AddSingleton<IStore, SluiceStore>()
        .AddHostedService<RouteAssertion>();
}
