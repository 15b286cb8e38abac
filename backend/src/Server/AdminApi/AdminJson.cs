using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Arr;
using Sluice.Server.Backups;
using Sluice.Server.Diagnostics;
using Sluice.Server.FamilyImport;
using Sluice.Server.History;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Usenet.Media.Tracks;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.AdminApi;

/// <summary>
/// The JSON of requests, responses and frames, generated at build time. Enums of other folders get their string values here, because only this API needs them.
/// </summary>
[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    Converters =
    [
        typeof(KebabCaseEnumConverter<ArrAction>), typeof(KebabCaseEnumConverter<ArrKind>), typeof(KebabCaseEnumConverter<AttentionKind>),
        typeof(KebabCaseEnumConverter<AttentionLevel>), typeof(KebabCaseEnumConverter<BackupKind>), typeof(KebabCaseEnumConverter<BackupPlace>), typeof(KebabCaseEnumConverter<FailureReason>), typeof(KebabCaseEnumConverter<FamilyShape>),
        typeof(KebabCaseEnumConverter<ImportKind>), typeof(KebabCaseEnumConverter<ImportStage>), typeof(KebabCaseEnumConverter<ItemState>),
        typeof(KebabCaseEnumConverter<KeyState>), typeof(KebabCaseEnumConverter<PlaybackState>), typeof(KebabCaseEnumConverter<ProviderCondition>),
        typeof(KebabCaseEnumConverter<ProviderTestCause>), typeof(KebabCaseEnumConverter<ProviderTestStage>), typeof(KebabCaseEnumConverter<ProviderTestState>),
        typeof(KebabCaseEnumConverter<QuotaState>),
        typeof(KebabCaseEnumConverter<QueuePriority>), typeof(KebabCaseEnumConverter<SettingGroup>),
        typeof(KebabCaseEnumConverter<SettingOrigin>), typeof(KebabCaseEnumConverter<SubtitleForm>), typeof(KebabCaseEnumConverter<TrackKind>), typeof(KebabCaseEnumConverter<WaitReason>),
    ])]
[JsonSerializable(typeof(SetupState))]
[JsonSerializable(typeof(SetupRequest))]
[JsonSerializable(typeof(SetupStep))]
[JsonSerializable(typeof(Session))]
[JsonSerializable(typeof(Login))]
[JsonSerializable(typeof(AccountChange))]
[JsonSerializable(typeof(ArrRequest))]
[JsonSerializable(typeof(PathCheckRequest))]
[JsonSerializable(typeof(ArrInstances))]
[JsonSerializable(typeof(ArrTest))]
[JsonSerializable(typeof(ArrPlanned))]
[JsonSerializable(typeof(ArrConnected))]
[JsonSerializable(typeof(PathCheck))]
[JsonSerializable(typeof(BackupList))]
[JsonSerializable(typeof(RestoreReport))]
[JsonSerializable(typeof(RestoreRequest))]
[JsonSerializable(typeof(LaterList))]
[JsonSerializable(typeof(RescueState))]
[JsonSerializable(typeof(RescueRequest))]
[JsonSerializable(typeof(RescueList))]
[JsonSerializable(typeof(LaterRequeue))]
[JsonSerializable(typeof(PasswordGiven))]
[JsonSerializable(typeof(KeyEntries))]
[JsonSerializable(typeof(NewKey))]
[JsonSerializable(typeof(MadeKey))]
[JsonSerializable(typeof(SessionEntries))]
[JsonSerializable(typeof(FilePage))]
[JsonSerializable(typeof(FileDetail))]
[JsonSerializable(typeof(FileTracks))]
[JsonSerializable(typeof(FileItems))]
[JsonSerializable(typeof(FileRemovalState))]
[JsonSerializable(typeof(QuarantinePage))]
[JsonSerializable(typeof(QuarantineItems))]
[JsonSerializable(typeof(PositionSaved))]
[JsonSerializable(typeof(PlaylistLink))]
[JsonSerializable(typeof(SubtitleList))]
[JsonSerializable(typeof(SubtitlePart))]
[JsonSerializable(typeof(HistoryPage))]
[JsonSerializable(typeof(HistoryDetail))]
[JsonSerializable(typeof(HistoryRetry))]
[JsonSerializable(typeof(HistoryItems))]
[JsonSerializable(typeof(FamilyImportReport))]
[JsonSerializable(typeof(Home))]
[JsonSerializable(typeof(HomeSeen))]
[JsonSerializable(typeof(FailedCount))]
[JsonSerializable(typeof(LogPage))]
[JsonSerializable(typeof(LogLevelChange))]
[JsonSerializable(typeof(LogLevelState))]
[JsonSerializable(typeof(ProviderRows))]
[JsonSerializable(typeof(ProviderRow))]
[JsonSerializable(typeof(ProviderSave))]
[JsonSerializable(typeof(ProviderReset))]
[JsonSerializable(typeof(ProviderRefill))]
[JsonSerializable(typeof(ProviderTest))]
[JsonSerializable(typeof(ProviderTestStep))]
[JsonSerializable(typeof(ProviderTestOutcome))]
[JsonSerializable(typeof(QueuePage))]
[JsonSerializable(typeof(QueueAddress))]
[JsonSerializable(typeof(QueueAdded))]
[JsonSerializable(typeof(QueueChange))]
[JsonSerializable(typeof(QueuePauseRequest))]
[JsonSerializable(typeof(QueueState))]
[JsonSerializable(typeof(QueueItems))]
[JsonSerializable(typeof(QueueBulkChange))]
[JsonSerializable(typeof(BulkCount))]
[JsonSerializable(typeof(Removed))]
[JsonSerializable(typeof(SecretKeyReport))]
[JsonSerializable(typeof(SecretKeyGivenUp))]
[JsonSerializable(typeof(SettingFields))]
[JsonSerializable(typeof(SettingValues))]
[JsonSerializable(typeof(SettingValue))]
[JsonSerializable(typeof(SettingsSave))]
[JsonSerializable(typeof(SettingsSets))]
[JsonSerializable(typeof(Stats))]
[JsonSerializable(typeof(ReceiptPage))]
[JsonSerializable(typeof(ReceiptSums))]
[JsonSerializable(typeof(ProviderTraffic))]
[JsonSerializable(typeof(StreamRows))]
[JsonSerializable(typeof(StreamDetail))]
[JsonSerializable(typeof(SystemState))]
[JsonSerializable(typeof(AccessCard))]
[JsonSerializable(typeof(WebDavAccess))]
[JsonSerializable(typeof(EventPayloads))]
internal sealed partial class AdminJson : JsonSerializerContext
{
    /// <summary>Applies the rules of ADM-1 and ADM-6.</summary>
    public static void Configure(JsonSerializerOptions options)
    {
        options.UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow;
        options.NumberHandling = JsonNumberHandling.Strict;
        options.RespectNullableAnnotations = true;
        options.RespectRequiredConstructorParameters = true;
        foreach (var converter in Default.Options.Converters)
            options.Converters.Add(converter);
        options.TypeInfoResolverChain.Insert(0, AdminProblemJson.Default);
        options.TypeInfoResolverChain.Insert(0, Default);
    }
}
