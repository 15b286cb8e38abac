using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.FamilyImport;
using Sluice.Server.History;
using Sluice.Server.Settings;

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
        // Enumerations of other rooms, which know nothing of the words of this one.
        options.Converters.Add(new KebabCaseEnumConverter<FailureReason>());
        options.Converters.Add(new KebabCaseEnumConverter<ImportStage>());
        options.Converters.Add(new KebabCaseEnumConverter<FamilyShape>());
        options.Converters.Add(new KebabCaseEnumConverter<ImportKind>());
        options.Converters.Add(new KebabCaseEnumConverter<KeyState>());
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
