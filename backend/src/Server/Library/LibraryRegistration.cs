using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Providers;

namespace Sluice.Server.Library;

internal static class LibraryRegistration
{
    public static IServiceCollection AddLibrary(this IServiceCollection services) => services
        .AddSingleton<BuiltInClip>()
        .AddSingleton(provider => new BuiltInArticles(() => provider.GetRequiredService<BuiltInClip>().Source))
        .AddSingleton<IWelcomePath, ClipWelcome>()
        .AddSingleton<LibraryStore>()
        .AddSingleton(LibraryStore.NzbReference)
        .AddSingleton(provider => ReleasesChanged.Watch(provider.GetRequiredService<EventFeed>()))
        .AddSingleton<RecentFilms>()
        .AddSingleton<IFilmsInMemory>(provider => provider.GetRequiredService<RecentFilms>())
        .AddSingleton<CategoryRules>()
        .AddSingleton<ShownFiles>()
        .AddSingleton<LibraryTree>()
        .AddSingleton<TitleStore>()
        .AddSingleton<IWorker, TitleWorker>()
        .AddSingleton<FileListStore>()
        .AddSingleton<LibraryList>()
        .AddSingleton<StoredNzbReader>()
        .AddSingleton<ReleaseIdStore>()
        .AddSingleton<OpenReleases>()
        .AddSingleton<ReleaseOpenings>()
        .AddSingleton<MapCorrections>()
        .AddSingleton<PostedHabits>()
        .AddSingleton<ILearnedMemory>(provider => provider.GetRequiredService<PostedHabits>())
        .AddSingleton<ILearnedMemory, FileLieStore>()
        .AddSingleton<ProofQueue>()
        .AddSingleton<PredictionWriteWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<PredictionWriteWorker>())
        .AddSingleton<Predictions>()
        .AddSingleton<IWorker, ProvingWorker>()
        .AddSingleton<ProofStores>()
        .AddSingleton<FileStreamFactory>()
        .AddSingleton<MediaStore>()
        .AddSingleton<PositionStore>()
        .AddSingleton<PlaylistStore>()
        .AddSingleton<PictureStore>()
        .AddSingleton<IWorker, PictureWorker>()
        .AddSingleton<TrackProbe>()
        .AddSingleton<SubtitleProbe>()
        .AddSingleton<Playback>();
}
