using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;

namespace Sluice.Server.Settings;

internal static class SettingsRegistration
{
    private const DynamicallyAccessedMemberTypes Constructed = DynamicallyAccessedMemberTypes.PublicParameterlessConstructor;

    /// <summary>
    /// Adds the settings, their store and one <c>IOptionsMonitor</c> per topic. Before the store is loaded, options reflect only environment and defaults.
    /// </summary>
    public static IServiceCollection AddSettings(this IServiceCollection services, ProcessEnvironment environment, ProcessOptions process) =>
        services
            .AddSingleton(process)
            .AddSingleton(new SettingsSource(new SettingsResolver(SettingSchema.For(process), environment)))
            .AddSingleton<SecretBox>()
            .AddSingleton<SettingsTrial>()
            .AddSingleton<SettingsStore>()
            .AddOptions()
            .AddRecord(GeneralOptions.Read)
            .AddRecord(AuthOptions.Read)
            .AddRecord(ApiOptions.Read)
            .AddRecord(ImportOptions.Read)
            .AddRecord(QueueOptions.Read)
            .AddRecord(HistoryOptions.Read)
            .AddRecord(BackupOptions.Read)
            .AddRecord(MetricsOptions.Read)
            .AddRecord(PictureOptions.Read)
            .AddRecord(ReceiptOptions.Read)
            .AddRecord(RcloneOptions.Read)
            .AddRecord(SegmentCacheOptions.Read)
            .AddRecord(StreamingOptions.Read)
            .AddRecord(UpdateOptions.Read)
            .AddRecord(UsenetOptions.Read)
            .AddRecord(settings => WebDavOptions.Read(settings, process.DisableWebDavAuth));

    // The options framework requires a parameterless constructor, but never calls it, because a factory creates the record.
    private static IServiceCollection AddRecord<[DynamicallyAccessedMembers(Constructed)] TOptions>(this IServiceCollection services, Func<EffectiveSettings, TOptions> read)
        where TOptions : class => services
        .AddSingleton(provider => new SettingsRecord<TOptions>(provider.GetRequiredService<SettingsSource>(), read))
        .AddSingleton<IOptionsFactory<TOptions>>(provider => provider.GetRequiredService<SettingsRecord<TOptions>>())
        .AddSingleton<IOptionsChangeTokenSource<TOptions>>(provider => provider.GetRequiredService<SettingsRecord<TOptions>>());

    /// <summary>Creates an options record and updates it on changes. Cannot fail, because effective values are valid.</summary>
    private sealed class SettingsRecord<[DynamicallyAccessedMembers(Constructed)] TOptions>(SettingsSource source, Func<EffectiveSettings, TOptions> read)
        : IOptionsFactory<TOptions>, IOptionsChangeTokenSource<TOptions>
        where TOptions : class
    {
        public string Name => Options.DefaultName;

        public TOptions Create(string name) => read(source.Current);

        public IChangeToken GetChangeToken() => source.GetChangeToken();
    }
}
