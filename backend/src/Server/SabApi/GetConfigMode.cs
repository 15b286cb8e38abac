using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=get_config</c>: the SABnzbd settings that clients read (SAB-50 to SAB-52), without secrets or addresses.</summary>
internal sealed class GetConfigMode(
    CompleteFolder completeFolder, DataFolder folder, CategoryRules categories, ProviderHost providers, IOptionsMonitor<ApiOptions> options) : ISabMode
{
    private const string Masked = "********";
    private const string Redacted = "redacted";
    private const int DefaultPriority = -100;

    public string Name => "get_config";

    public Task AnswerAsync(SabCall call)
    {
        var (section, keyword) = (call.Parameters.Text("section"), call.Parameters.Text("keyword"));
        return SabAnswer.WriteAsync(
            call,
            to =>
            {
                to.BeginObject("config");
                // Ignore a keyword unless a section is given.
                WriteMisc(to, section, section.Length > 0 ? keyword : "");
                WriteCategories(to, section, section.Length > 0 ? keyword : "");
                WriteServers(to, section, section.Length > 0 ? keyword : "");
                if (Includes(section, "sorters") && (section.Length == 0 || keyword.Length == 0))
                    to.Texts("sorters", []);
                to.EndObject();
            });
    }

    private static bool Includes(string section, string name) => section.Length == 0 || section == name;

    private void WriteMisc(ISabWriter to, string section, string keyword)
    {
        List<(string Name, Action<string> Write)> fields =
        [
            Text("complete_dir", completeFolder.Path), Text("download_dir", folder.Root),
            NoTexts("tv_categories"), Switch("enable_tv_sorting"), NoTexts("movie_categories"), Switch("enable_movie_sorting"),
            NoTexts("date_categories"), Switch("enable_date_sorting"), Switch("pre_check"),
            Text("history_retention", ""), Text("history_retention_option", "all"), Number("history_retention_number", 1),
            Text("bandwidth_max", ""), Number("bandwidth_perc", 100), Text("api_key", Masked),
        ];
        var chosen = fields.Where(field => keyword.Length == 0 || field.Name == keyword).ToList();
        if (!Includes(section, "misc") || chosen.Count == 0)
            return;
        to.BeginObject("misc");
        foreach (var (name, write) in chosen)
            write(name);
        to.EndObject();

        (string, Action<string>) Text(string name, string value) => (name, key => to.Field(key, value));
        (string, Action<string>) Number(string name, long value) => (name, key => to.Field(key, value));
        // Always off. Written as 0, because SABnzbd sends no booleans here.
        (string, Action<string>) Switch(string name) => Number(name, 0);
        (string, Action<string>) NoTexts(string name) => (name, key => to.Texts(key, []));
    }

    private void WriteCategories(ISabWriter to, string section, string keyword)
    {
        List<string> chosen = [.. categories.Configured.Prepend(CategoryRules.None).Where(name => keyword.Length == 0 || name == keyword)];
        if (!Includes(section, "categories") || chosen.Count == 0)
            return;
        to.BeginList("categories");
        foreach (var name in chosen)
        {
            var isDefault = name == CategoryRules.None;
            to.BeginObject();
            to.Field("name", name);
            to.Field("order", isDefault ? 0 : categories.Configured.TakeWhile(other => other != name).Count() + 1);
            to.Field("pp", isDefault ? "3" : "");
            to.Field("script", isDefault ? SabWords.NoScript : "Default");
            to.Field("dir", isDefault ? options.CurrentValue.ManualCategory : categories.FolderOf(name));
            to.Field("newzbin", "");
            to.Field("priority", isDefault ? 0 : DefaultPriority);
            to.EndObject();
        }

        to.EndList();
    }

    private void WriteServers(ISabWriter to, string section, string keyword)
    {
        var chosen = providers.Providers.Select((provider, index) => (Name: SabServers.NameOf(provider.Options, index), provider.Options))
            .Where(server => keyword.Length == 0 || server.Name == keyword).ToList();
        if (!Includes(section, "servers") || (keyword.Length > 0 && chosen.Count == 0))
            return;
        to.BeginList("servers");
        foreach (var (name, server) in chosen)
        {
            to.BeginObject();
            to.Field("name", name);
            to.Field("displayname", name);
            to.Field("host", Redacted);
            to.Field("port", server.Port);
            to.Field("username", Redacted);
            to.Field("password", Masked);
            to.Field("connections", server.MaxConnections);
            to.Field("ssl", server.UseTls ? 1 : 0);
            to.Field("enable", server.Kind == ProviderKind.Disabled ? 0 : 1);
            to.Field("optional", SabServers.IsOptional(server) ? 1 : 0);
            to.Field("priority", server.Priority);
            to.EndObject();
        }

        to.EndList();
    }
}
