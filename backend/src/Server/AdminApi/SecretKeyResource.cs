using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>A locked setting. If <c>IsMadeAnew</c>, discarding the key creates a new value; otherwise <c>Sentence</c> says what to enter again.</summary>
internal sealed record LockedSetting(string Key, string Title, bool IsMadeAnew, string Sentence);

/// <summary>
/// The key file, and the cost of discarding the key: locked settings, kinds of links that stop working, items whose address or archive password is locked, and
/// releases from an old server whose archive password is locked and in no item. Discarding requires this list's <c>Id</c>, so that it never costs more than was
/// shown.
/// </summary>
internal sealed record SecretKeyReport(
    string File,
    KeyState State,
    string? Sentence,
    IReadOnlyList<LockedSetting> Settings,
    IReadOnlyList<string> Links,
    int QueueItems,
    int HistoryItems,
    int Releases,
    string Id);

/// <summary>Discards the lost key and everything in the list with this <c>Id</c>. Requires the administrator's password.</summary>
internal sealed record SecretKeyGivenUp(string Id, string Password) : IJsonBody<SecretKeyGivenUp>;

/// <summary><c>/api/settings/secret-key</c>: reports the state of the key file and discards a lost key (CFG-53).</summary>
internal static class SecretKeyResource
{
    private const int IdBytes = 8;

    public static void MapSecretKey(this RouteGroupBuilder api)
    {
        var key = api.MapGroup("/settings/secret-key");
        key.MapGet("", ShowAsync).WithName("ShowSecretKey");
        key.MapPost("/give-up", GiveUpAsync).WithName("GiveUpSecretKey");
    }

    private static async Task<Ok<SecretKeyReport>> ShowAsync(
        SecretBox box, SettingsSource settings, QueueStore queue, HistoryStore history, CancellationToken cancellationToken) =>
        TypedResults.Ok(await ReportAsync(box, settings, queue, history, cancellationToken));

    private static async Task<Results<Ok<SecretKeyReport>, JsonHttpResult<Problem>>> GiveUpAsync(
        SecretKeyGivenUp wish,
        HttpContext http,
        SecretBox box,
        SettingsSource settings,
        SettingsStore store,
        QueueStore queue,
        HistoryStore history,
        AdminStore admins,
        AdminPassword password,
        CancellationToken cancellationToken)
    {
        if (admins.Admin is null)
            return AdminProblem.WrongState("Set up the server first.");
        if (await PasswordGate.RefuseAsync(http, wish.Password, admins, password, cancellationToken) is { } problem)
            return problem;

        var report = await ReportAsync(box, settings, queue, history, cancellationToken);
        if (report.Sentence is null)
            return AdminProblem.WrongState("Nothing is locked.");
        if (report.Id != wish.Id)
            return AdminProblem.WrongState("The list has changed. Read it again.");
        await store.GiveUpKeyAsync(cancellationToken);
        return TypedResults.Ok(await ReportAsync(box, settings, queue, history, cancellationToken));
    }

    private static async Task<SecretKeyReport> ReportAsync(
        SecretBox box, SettingsSource settings, QueueStore queue, HistoryStore history, CancellationToken cancellationToken)
    {
        var isLocked = box.IsLocked;
        LockedSetting[] locked = [.. settings.Current.All.Where(setting => setting.IsLocked).Select(setting => Shape(setting.Definition))];
        string[] links = [.. locked.Select(setting => LinksOf(setting.Key)).OfType<string>()];
        var report = new SecretKeyReport(
            SecretBox.KeyFileName,
            box.State,
            isLocked || locked.Length > 0 ? $"The key file {box.Cause}." : null,
            locked,
            links,
            isLocked ? await queue.CountSealedAsync(cancellationToken) : 0,
            isLocked ? await history.CountSealedAsync(cancellationToken) : 0,
            isLocked ? await history.CountSealedReleasesAsync(cancellationToken) : 0,
            "");
        var state = string.Create(
            CultureInfo.InvariantCulture,
            $"{report.State} {report.QueueItems} {report.HistoryItems} {report.Releases} {string.Join(' ', locked.Select(setting => setting.Key))}");
        return report with { Id = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(state)).AsSpan(0, IdBytes)) };
    }

    private static LockedSetting Shape(SettingDefinition definition) => new(
        definition.Key,
        definition.Card.Title,
        SettingSchema.MadeKeys.Contains(definition.Key),
        definition.Key switch
        {
            "api.key" => "Sluice makes a new one. Enter it in Sonarr, Radarr, and every other program.",
            "api.strm-key" => "Sluice makes a new one. STRM files written so far need it.",
            "usenet.providers" => "Add every provider again: host, username, and password.",
            "arr.instances" => "Connect every program again.",
            _ => "Type it again.",
        });

    private static string? LinksOf(string key) => key switch
    {
        "api.key" => "Signed links that were copied from a file's page.",
        "api.strm-key" => "STRM files in your media library.",
        "webdav.static-download-key" => "Links that carry the static download key.",
        _ => null,
    };
}
