using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Arr;
using Sluice.Server.FamilyImport;
using Sluice.Server.History;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.AdminApi;

/// <summary>How requests are read and answers are written: by contexts that each resource brings.</summary>
internal static class AdminJson
{
    /// <summary>Adds the rules of ADM-1 and ADM-6 and the contexts of all resources.</summary>
    public static void Configure(JsonSerializerOptions options)
    {
        options.UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow;
        options.NumberHandling = JsonNumberHandling.Strict;
        options.RespectNullableAnnotations = true;
        options.RespectRequiredConstructorParameters = true;
        // The enums of other rooms have no attribute, because only this API has words for them.
        foreach (var converter in (JsonConverter[])[
            new KebabCaseEnumConverter<FailureReason>(), new KebabCaseEnumConverter<ImportStage>(), new KebabCaseEnumConverter<FamilyShape>(),
            new KebabCaseEnumConverter<ImportKind>(), new KebabCaseEnumConverter<KeyState>(), new KebabCaseEnumConverter<QueuePriority>(),
            new KebabCaseEnumConverter<ItemState>(), new KebabCaseEnumConverter<SettingGroup>(), new KebabCaseEnumConverter<SettingOrigin>(),
            new KebabCaseEnumConverter<ArrKind>(), new KebabCaseEnumConverter<ArrAction>(), new KebabCaseEnumConverter<TrackKind>(),
            new KebabCaseEnumConverter<SampleWindow>(), new KebabCaseEnumConverter<ProviderTestStage>(), new KebabCaseEnumConverter<ProviderTestState>(),
            new KebabCaseEnumConverter<ProviderTestCause>()])
            options.Converters.Add(converter);
        var chain = options.TypeInfoResolverChain;
        chain.Insert(0, AdminProblemJson.Default);
        chain.Insert(0, AccessJson.Default);
        chain.Insert(0, CredentialJson.Default);
        chain.Insert(0, FamilyImportJson.Default);
        chain.Insert(0, SettingsJson.Default);
        chain.Insert(0, WebDavPasswordJson.Default);
        chain.Insert(0, SecretKeyJson.Default);
        chain.Insert(0, ArrResourceJson.Default);
        chain.Insert(0, QueueJson.Default);
        chain.Insert(0, HistoryJson.Default);
        chain.Insert(0, ProviderResourceJson.Default);
        chain.Insert(0, StreamsJson.Default);
        chain.Insert(0, StatsJson.Default);
        chain.Insert(0, FilesJson.Default);
        chain.Insert(0, LogsJson.Default);
        chain.Insert(0, SystemJson.Default);
        chain.Insert(0, EventsJson.Default);
    }
}
